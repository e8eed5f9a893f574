package dev.weft.internal.watch;

import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.wait.WaitQueue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Tells, without a look at any stack, which of many waiting fibers can be part of a circle. A
 * hundred thousand fibers at one mutex whose holder sleeps take some milliseconds here; their
 * stacks would take a second.
 *
 * <p>A graph: from each fiber to the queue at which it waits, or to the fiber that holds what it
 * waits for; from each queue to the fibers that hold its lock. Nodes without an edge out of them
 * are dropped, again and again, then those without an edge into them: what is left are the circles
 * and the paths between circles (Kahn, "Topological sorting of large networks", 1962). Which
 * monitor a fiber waits for is in its stack. So a fiber at a monitor may wait for any other fiber:
 * it is never dropped, and while there is such a fiber, no other fiber is dropped because nothing
 * is known to wait for it.
 */
final class WaitGraph {
  private final List<FiberCore<?>> fibers;
  private final boolean[] atMonitor;
  private final Map<WaitQueue, Integer> queues = new IdentityHashMap<>();
  private final Map<Long, Integer> byThread = new HashMap<>();
  private int nodes;

  // the edges: from each of the first nodes to the second
  private int[] from = new int[64];
  private int[] to = new int[64];
  private int edges;

  private WaitGraph(List<FiberCore<?>> fibers) {
    this.fibers = fibers;
    this.atMonitor = new boolean[fibers.size()];
    this.nodes = fibers.size(); // the queues come after the fibers
  }

  /**
   * Returns the fibers that can be part of a circle, in the order in which they are given.
   *
   * @param fibers fibers for which {@link LockOwners#mayWaitForOwner} is true
   */
  static List<FiberCore<?>> inCircles(List<FiberCore<?>> fibers) {
    return new WaitGraph(fibers).inCircles();
  }

  private List<FiberCore<?>> inCircles() {
    for (int i = 0; i < fibers.size(); i++) {
      Thread thread = fibers.get(i).threadOrNull();
      if (thread != null) {
        byThread.put(thread.threadId(), i);
      }
    }
    boolean monitors = false;
    for (int i = 0; i < fibers.size(); i++) {
      addEdgesOf(i);
      monitors |= atMonitor[i];
    }
    boolean[] dropped = new boolean[nodes];
    drop(to, from, dropped);
    if (!monitors) {
      drop(from, to, dropped);
    }
    List<FiberCore<?>> rest = new ArrayList<>();
    for (int i = 0; i < fibers.size(); i++) {
      if (!dropped[i]) {
        rest.add(fibers.get(i));
      }
    }
    return rest;
  }

  private void addEdgesOf(int fiber) {
    Object blocker = LockOwners.blockerOf(fibers.get(fiber));
    if (blocker == null) {
      atMonitor[fiber] = true; // or it has been woken meanwhile: its stack will tell
    } else if (blocker instanceof WaitQueue queue) {
      addEdge(fiber, queues.computeIfAbsent(queue, this::addQueue));
    } else {
      Thread owner = LockOwners.ownerOf(blocker);
      if (owner != null) {
        addEdgeTo(fiber, owner.threadId());
      }
    }
  }

  private int addQueue(WaitQueue queue) {
    int node = nodes++;
    queue.forEachHolder(thread -> addEdgeTo(node, thread));
    return node;
  }

  private void addEdgeTo(int node, long thread) {
    Integer owner = byThread.get(thread);
    if (owner != null) {
      addEdge(node, owner);
    }
  }

  private void addEdge(int start, int end) {
    if (edges == from.length) {
      from = Arrays.copyOf(from, 2 * edges);
      to = Arrays.copyOf(to, 2 * edges);
    }
    from[edges] = start;
    to[edges] = end;
    edges++;
  }

  /**
   * Drops each node that is the far end of no edge whose near end is left, until no such node is
   * left.
   *
   * @param near the near end of each edge: a dropped node finds its neighbours by it
   * @param far the far end of each edge: it loses the edge when the near end is dropped
   */
  private void drop(int[] near, int[] far, boolean[] dropped) {
    int[] left = new int[nodes]; // edges of each node at its far end
    int[] starts = new int[nodes + 1]; // where the edges of each near node begin in order
    for (int i = 0; i < edges; i++) {
      if (!dropped[near[i]] && !dropped[far[i]]) {
        left[far[i]]++;
      }
      starts[near[i] + 1]++;
    }
    for (int i = 0; i < nodes; i++) {
      starts[i + 1] += starts[i];
    }
    int[] next = Arrays.copyOf(starts, nodes);
    int[] order = new int[edges];
    for (int i = 0; i < edges; i++) {
      order[next[near[i]]++] = i;
    }
    int[] due = new int[nodes];
    int size = 0;
    for (int i = 0; i < nodes; i++) {
      if (!dropped[i] && left[i] == 0 && !isAtMonitor(i)) {
        dropped[i] = true;
        due[size++] = i;
      }
    }
    while (size > 0) {
      int node = due[--size];
      for (int i = starts[node]; i < starts[node + 1]; i++) {
        int neighbour = far[order[i]];
        if (!dropped[neighbour] && --left[neighbour] == 0 && !isAtMonitor(neighbour)) {
          dropped[neighbour] = true;
          due[size++] = neighbour;
        }
      }
    }
  }

  private boolean isAtMonitor(int node) {
    return node < atMonitor.length && atMonitor[node];
  }
}
