package dev.weft.bench.suite;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The alternative to Weft's timing wheel: a heap in an array, four children to a node, which is
 * flatter than two and kinder to caches.
 *
 * <p>Invariants: nodes[i].deadline ≤ nodes[4i+1…4i+4].deadline; nodes[i].index = i.
 */
final class QuadHeap implements TimerQueueBenchmark.Queue<QuadHeap.Node> {
  private @Nullable Node[] nodes = new Node[64];
  private int size;

  /** One entry; it knows its place, so that it can be removed from the middle. */
  static final class Node {
    private long deadline;
    private int index = -1;
  }

  @Override
  public void add(Node node, long deadline) {
    if (size == nodes.length) {
      nodes = Arrays.copyOf(nodes, 2 * size);
    }
    node.deadline = deadline;
    siftUp(size++, node);
  }

  @Override
  public boolean remove(Node node) {
    int hole = node.index;
    if (hole < 0) {
      return false;
    }
    node.index = -1;
    Node last = nodes[--size];
    nodes[size] = null;
    if (last != node) {
      siftDown(hole, last);
      if (last.index == hole) {
        siftUp(hole, last);
      }
    }
    return true;
  }

  @Override
  public long nextWake() {
    return size == 0 ? Long.MAX_VALUE : nodes[0].deadline;
  }

  @Override
  public void expire(long now, Consumer<Node> due) {
    while (size > 0 && nodes[0].deadline - now <= 0) {
      Node first = nodes[0];
      remove(first);
      due.accept(first);
    }
  }

  private void siftUp(int from, Node node) {
    int hole = from;
    while (hole > 0) {
      int parent = (hole - 1) >>> 2;
      if (nodes[parent].deadline - node.deadline <= 0) {
        break;
      }
      put(hole, nodes[parent]);
      hole = parent;
    }
    put(hole, node);
  }

  private void siftDown(int from, Node node) {
    int hole = from;
    while (4 * hole + 1 < size) {
      int least = 4 * hole + 1;
      for (int child = least + 1; child < Math.min(4 * hole + 5, size); child++) {
        if (nodes[child].deadline - nodes[least].deadline < 0) {
          least = child;
        }
      }
      if (node.deadline - nodes[least].deadline <= 0) {
        break;
      }
      put(hole, nodes[least]);
      hole = least;
    }
    put(hole, node);
  }

  private void put(int index, Node node) {
    nodes[index] = node;
    node.index = index;
  }
}
