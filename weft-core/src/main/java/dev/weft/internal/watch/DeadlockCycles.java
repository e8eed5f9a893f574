package dev.weft.internal.watch;

import dev.weft.FiberDump;
import dev.weft.internal.Log;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Worker;
import dev.weft.internal.wait.WaitQueue;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds cycles: fibers that wait for each other in a circle while other fibers run. Each waits for
 * a lock, a monitor or the end of a fiber that the next fiber owns, perhaps together with others,
 * as readers do. The watchdog calls {@link #step} at each look.
 *
 * <pre>
 *   collect   a bounded number of fibers per step: suspects are fibers that wait for something
 *             with one owner
 *   drop      after the last fiber, without a look at a stack: what is in no circle; see {@link
 *             WaitGraph}
 *   follow    from each suspect to the owner, and on, to a circle
 *   confirm   a circle that the pass before has seen too, with no slice of its fibers in between,
 *             is a deadlock: reported once
 * </pre>
 *
 * <p>A pass begins only if a fiber has run since the last two passes, so an idle scheduler costs
 * nothing; waits with a time limit are not followed. The watchdog's thread collects. A second
 * thread, for one pass at a time, looks at the stacks, of which there may be very many. A third
 * writes the reports: it calls the user's {@code toString}, which may block.
 */
public final class DeadlockCycles {
  /** How many fibers a step looks at: some 0.1 ms. */
  private static final int FIBERS_A_STEP = 2_048;

  /** The shortest time between the starts of two passes. */
  private static final long PASS_NANOS = 250_000_000;

  /** The next pass begins after so many times the time that the end of the last one took. */
  private static final long REST_SHARE = 20;

  private static final long MOST_REST_NANOS = 20_000_000_000L;

  /** A pass whose end takes less time than this does not delay the next pass. */
  private static final long SHORT_NANOS = 20_000_000;

  private List<FiberCore<?>> suspects = new ArrayList<>();

  // the workers that this pass still has to look at; the last of them from this place on
  private final List<Worker> left = new ArrayList<>();
  private int place;

  private long passBegan = System.nanoTime() - PASS_NANOS;
  private boolean inPass;
  private long slicesSeen = -1;
  private int passesLeft; // how many more passes to make although no fiber has run

  // whether a thread ends a pass, and when the next pass may begin because of what that took; a
  // flag, because a field with the thread would keep its suspects reachable
  private volatile boolean confirming;
  private volatile long restUntil = passBegan;

  // the circles of the pass before, and those that have been reported; by the thread that ends it
  private Set<String> seen = Set.of();
  private final Set<String> reported = new HashSet<>();

  // the confirmed circles of the last pass: signatures, and the ids of the fibers. Not the fibers
  // themselves: what a static field reaches is no leak for LeakCheck. Read by any thread
  private volatile Map<String, List<Long>> confirmed = Map.of();

  /** Looks at some more fibers; returns whether it wants to be called again soon. */
  boolean step(Collection<SchedulerCore> schedulers, long now) {
    if (confirming) {
      return false;
    }
    if (!inPass && !begins(schedulers, now)) {
      return false;
    }
    int budget = FIBERS_A_STEP;
    while (budget > 0 && !left.isEmpty()) {
      Worker worker = left.getLast();
      List<FiberCore<?>> some = worker.someFibers(place, budget);
      some.forEach(this::collect);
      place += some.size();
      if (some.size() < budget) {
        left.removeLast();
        place = 0;
      }
      budget -= some.size();
    }
    if (left.isEmpty()) {
      inPass = false;
      List<FiberCore<?>> found = suspects;
      suspects = new ArrayList<>();
      endPass(found);
    }
    return inPass; // the next pass begins so much later that rare looks are soon enough
  }

  private void endPass(List<FiberCore<?>> found) {
    boolean goesOn = false;
    try {
      boolean isCheap = found.size() <= FIBERS_A_STEP;
      List<FiberCore<?>> rest = isCheap ? WaitGraph.inCircles(found) : found;
      if (rest.isEmpty()) {
        confirm(rest);
      } else {
        confirming = true;
        beside("weft-deadlocks", () -> confirmBeside(rest));
        goesOn = true;
      }
    } finally {
      if (!goesOn) { // also if no thread can be started now
        hasEnded(found);
      }
    }
  }

  private void hasEnded(List<FiberCore<?>> found) {
    found.clear(); // a thread that is about to end refers to the list still
    confirming = false;
    LeakCheck.LOOKS.release();
  }

  private void confirmBeside(List<FiberCore<?>> found) {
    try {
      confirm(found);
    } catch (Throwable e) {
      Log.later(() -> Log.logger().log(Level.ERROR, "the look for deadlocks failed", e));
    } finally {
      hasEnded(found);
    }
  }

  private boolean begins(Collection<SchedulerCore> schedulers, long now) {
    if (now - passBegan < PASS_NANOS || now - restUntil < 0) {
      return false;
    }
    passBegan = now;
    long slices = schedulers.stream().mapToLong(SchedulerCore::slices).sum();
    if (slices != slicesSeen) {
      slicesSeen = slices;
      passesLeft = 2;
    } else if (passesLeft == 0) {
      return false;
    } else {
      passesLeft--;
    }
    if (!LeakCheck.LOOKS.tryAcquire()) {
      passesLeft = Math.max(passesLeft, 1); // after the leak check
      return false;
    }
    schedulers.forEach(scheduler -> left.addAll(List.of(scheduler.workers)));
    place = 0;
    inPass = true;
    return true;
  }

  private void collect(FiberCore<?> fiber) {
    if (LockOwners.mayWaitForOwner(fiber) && !fiber.hasDeadline()) {
      suspects.add(fiber);
    }
  }

  private void confirm(List<FiberCore<?>> waiting) {
    long begin = System.nanoTime();
    Set<String> found = new HashSet<>();
    Map<String, List<Long>> certain = new LinkedHashMap<>();
    List<List<FiberCore<?>>> fresh = new ArrayList<>();
    for (List<FiberCore<?>> circle : circles(waiting)) {
      String signature = signature(circle);
      found.add(signature);
      if (seen.contains(signature)) {
        certain.put(signature, circle.stream().map(FiberCore::id).toList());
        if (reported.add(signature)) {
          fresh.add(circle);
        }
      }
    }
    reported.retainAll(found);
    seen = found;
    confirmed = certain; // before the reports: dumps show it, though a toString may block
    long now = System.nanoTime();
    long took = now - begin;
    restUntil = now + (took < SHORT_NANOS ? 0 : Math.min(MOST_REST_NANOS, REST_SHARE * took));
    for (List<FiberCore<?>> circle : fresh) {
      List<FiberCore<?>> all = List.copyOf(waiting); // the caller clears its list
      beside("weft-deadlock-report", () -> log(report(circle, all)));
    }
  }

  private static void log(String report) {
    Log.later(() -> Log.logger().log(Level.WARNING, report));
  }

  private static void beside(String name, Runnable task) {
    Thread.ofPlatform().daemon().name(name).inheritInheritableThreadLocals(false).start(task);
  }

  /** Returns the circles that are confirmed and in which no fiber has run since; on any thread. */
  List<List<FiberCore<?>>> confirmed(Collection<SchedulerCore> schedulers) {
    Map<String, List<Long>> known = confirmed;
    if (known.isEmpty()) {
      return List.of();
    }
    Map<Long, @Nullable FiberCore<?>> byId = new HashMap<>();
    known.values().forEach(ids -> ids.forEach(id -> byId.put(id, null)));
    for (SchedulerCore scheduler : schedulers) {
      for (Worker worker : scheduler.workers) {
        worker.forEachFiber(fiber -> byId.replace(fiber.id(), fiber));
      }
    }
    return known.entrySet().stream()
        .map(circle -> Map.entry(circle.getKey(), living(circle.getValue(), byId)))
        .filter(circle -> circle.getKey().equals(signature(circle.getValue())))
        .map(Map.Entry::getValue)
        .toList();
  }

  private static List<FiberCore<?>> living(List<Long> ids, Map<Long, @Nullable FiberCore<?>> byId) {
    List<FiberCore<?>> fibers = new ArrayList<>();
    for (long id : ids) {
      FiberCore<?> fiber = byId.get(id);
      if (fiber != null) {
        fibers.add(fiber);
      }
    }
    return fibers;
  }

  /** Returns the circles among fibers for which {@link LockOwners#mayWaitForOwner} is true. */
  public static List<List<FiberCore<?>>> circles(Collection<FiberCore<?>> some) {
    List<FiberCore<?>> suspects = new ArrayList<>(WaitGraph.inCircles(new ArrayList<>(some)));
    suspects.sort(Comparator.comparingLong(FiberCore::id)); // two passes find the same circle
    Map<FiberCore<?>, List<FiberCore<?>>> owners = owners(suspects);
    List<List<FiberCore<?>>> circles = new ArrayList<>();
    Set<FiberCore<?>> done = Collections.newSetFromMap(new IdentityHashMap<>());
    for (FiberCore<?> start : suspects) {
      List<FiberCore<?>> circle = circleFrom(start, owners, done);
      if (circle != null) {
        circles.add(circle);
      }
    }
    return circles;
  }

  /**
   * Returns the fibers that each suspect waits for. Each of them has to act, so that a circle
   * through one of them is a deadlock. Only suspects can be part of a circle.
   */
  private static Map<FiberCore<?>, List<FiberCore<?>>> owners(List<FiberCore<?>> suspects) {
    Map<Long, FiberCore<?>> byThread = new HashMap<>();
    for (FiberCore<?> fiber : suspects) {
      Thread thread = fiber.threadOrNull();
      if (thread != null && DeadlockReport.waitsWithoutLimit(fiber)) {
        byThread.put(thread.threadId(), fiber);
      }
    }
    Map<FiberCore<?>, List<FiberCore<?>>> owners = new IdentityHashMap<>();
    Map<Object, List<FiberCore<?>>> ofQueues = new IdentityHashMap<>();
    LockOwners look = new LockOwners(suspects::stream);
    for (FiberCore<?> fiber : byThread.values()) {
      look.renew(); // every one is asked: a circle is found whatever time that takes
      LockOwners.BlockedOn blocked = look.blockedOn(fiber);
      if (blocked != null) {
        owners.put(
            fiber,
            blocked.object() instanceof WaitQueue queue
                ? ofQueues.computeIfAbsent(queue, _ -> owners(blocked, byThread))
                : owners(blocked, byThread));
      }
    }
    return owners;
  }

  private static List<FiberCore<?>> owners(
      LockOwners.BlockedOn blocked, Map<Long, FiberCore<?>> byThread) {
    List<FiberCore<?>> owners = new ArrayList<>();
    LockOwners.forEachOwner(
        blocked,
        id -> {
          FiberCore<?> owner = byThread.get(id);
          if (owner != null) {
            owners.add(owner);
          }
        });
    owners.sort(Comparator.comparingLong(FiberCore::id));
    return owners;
  }

  /**
   * Follows the owners from a fiber, depth first; returns the first circle that it meets, without
   * fibers of which an earlier start has seen all owners.
   */
  private static @Nullable List<FiberCore<?>> circleFrom(
      FiberCore<?> start, Map<FiberCore<?>, List<FiberCore<?>>> owners, Set<FiberCore<?>> done) {
    LinkedHashMap<FiberCore<?>, Iterator<FiberCore<?>>> path = new LinkedHashMap<>();
    FiberCore<?> fiber = start;
    while (fiber != null) {
      Iterator<FiberCore<?>> next =
          path.computeIfAbsent(fiber, f -> owners.getOrDefault(f, List.of()).iterator());
      FiberCore<?> owner = next.hasNext() ? next.next() : null;
      if (owner == null) { // no more owners: back to the fiber before
        done.add(fiber);
        path.remove(fiber);
        fiber = path.isEmpty() ? null : path.sequencedKeySet().getLast();
      } else if (path.containsKey(owner)) {
        done.addAll(path.keySet());
        FiberCore<?> first = owner;
        return oldestFirst(path.keySet().stream().dropWhile(f -> f != first));
      } else if (!done.contains(owner)) {
        fiber = owner;
      }
    }
    return null;
  }

  /** Begins a circle at its oldest fiber, so that two looks at it show the same. */
  private static List<FiberCore<?>> oldestFirst(Stream<FiberCore<?>> circle) {
    List<FiberCore<?>> fibers = circle.collect(Collectors.toCollection(ArrayList::new));
    FiberCore<?> oldest = Collections.min(fibers, Comparator.comparingLong(FiberCore::id));
    Collections.rotate(fibers, -fibers.indexOf(oldest));
    return fibers;
  }

  /** Identifies the fibers of a circle, each in its current wait. */
  private static String signature(List<FiberCore<?>> circle) {
    return circle.stream()
        .map(fiber -> fiber.id() + "@" + fiber.since)
        .sorted()
        .collect(Collectors.joining(" "));
  }

  private static String report(List<FiberCore<?>> circle, List<FiberCore<?>> waiting) {
    StringBuilder text = new StringBuilder("deadlock: ");
    text.append(circle.size() == 1 ? "a fiber waits for itself." : "fibers wait for each other.");
    LockOwners look = new LockOwners(waiting::stream);
    for (int i = 0; i < circle.size(); i++) {
      FiberDump.Entry entry = Dumps.entry(circle.get(i), look);
      FiberCore<?> next = circle.get((i + 1) % circle.size());
      text.append("\n  ").append(entry.summary());
      if (!entry.summary().contains(next.toString())) { // a reader, or a writer before it
        text.append(", behind ").append(next);
      }
      text.append(" at ").append(Dumps.ownFrame(entry));
    }
    return text.toString();
  }
}
