package dev.weft.internal.watch;

import dev.weft.FiberDump;
import dev.weft.Scheduler;
import dev.weft.internal.events.Lane;
import dev.weft.internal.sched.Detour;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.ScopeLooks;
import dev.weft.internal.sched.Worker;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Looks at running schedulers from outside, for the console. A look goes through the registries in
 * small steps, holds each worker's lock for microseconds, and takes few stacks: its cost for a
 * million fibers is tens of milliseconds, on the thread that asks.
 */
public final class FiberLooks {
  /** How many fibers are taken from a registry under one lock. */
  private static final int STEP = 256;

  private static final Set<Scheduler> HIDDEN = ConcurrentHashMap.newKeySet();

  private FiberLooks() {}

  /**
   * A fiber in one line.
   *
   * @param state READY, RUNNING, WAITING or DONE; SLEEPING; BLOCKING on a helper; COMPUTING, set
   *     apart
   * @param waitsFor what it waits for; empty if it does not wait, or sleeps
   * @param nanos for how long it has been waiting; 0 if it does not wait
   */
  public record Line(
      long id,
      String name,
      String scheduler,
      String state,
      int thread,
      String waitsFor,
      long nanos) {}

  /** Does not show a scheduler: the console's own. */
  public static void hide(Scheduler scheduler) {
    HIDDEN.add(scheduler);
  }

  /** Shows a scheduler again, which has stopped. */
  public static void unhide(Scheduler scheduler) {
    HIDDEN.remove(scheduler);
  }

  /** Returns the running schedulers, by name. */
  public static List<SchedulerCore> schedulers() {
    return Watchdog.schedulers().stream()
        .filter(scheduler -> !HIDDEN.contains(scheduler))
        .sorted(Comparator.comparing(Scheduler::name))
        .toList();
  }

  // ---- lanes ----

  /** Gives the workers of all schedulers a lane, if they have none, or takes it from them. */
  public static void setLanes(boolean on) {
    for (SchedulerCore scheduler : schedulers()) {
      for (Worker worker : scheduler.workers) {
        if (!on) {
          worker.lane = null;
        } else if (worker.lane == null) {
          worker.lane = new Lane();
        }
      }
    }
  }

  /** Returns whether the watchdog has found that a slice holds the worker for too long. */
  public static boolean isHeld(SchedulerCore scheduler, int thread) {
    return scheduler.workers[thread].stuck;
  }

  // ---- fibers ----

  /** Returns the fibers that have waited for the longest time, longest first; not sleepers. */
  public static List<Line> longestWaits(int most) {
    long now = System.nanoTime();
    PriorityQueue<Waiting> longest = new PriorityQueue<>(Comparator.comparingLong(Waiting::nanos));
    forEachFiber(
        fiber -> {
          Waiting shortest = longest.size() < most ? null : longest.peek();
          if (fiber.isWaiting()
              && (shortest == null || now - fiber.since > shortest.nanos)
              && !FiberCounts.sleeps(fiber)) {
            longest.add(new Waiting(fiber, now - fiber.since));
            if (shortest != null) {
              longest.poll();
            }
          }
        });
    return longest.stream()
        .sorted(Comparator.comparingLong(Waiting::nanos).reversed())
        .map(waiting -> line(waiting.fiber, now))
        .toList();
  }

  private record Waiting(FiberCore<?> fiber, long nanos) {}

  /** Returns fibers with this in their name or id, oldest first; all fibers for an empty text. */
  public static List<Line> find(String text, int most) {
    String part = text.toLowerCase(Locale.ROOT);
    long now = System.nanoTime();
    List<Line> found = new ArrayList<>();
    for (SchedulerCore scheduler : schedulers()) {
      for (Worker worker : scheduler.workers) {
        for (int from = 0; found.size() < most; from += STEP) {
          List<FiberCore<?>> some = worker.someFibers(from, STEP);
          for (FiberCore<?> fiber : some) {
            if (found.size() < most && isNamed(fiber, part)) {
              found.add(line(fiber, now));
            }
          }
          if (some.isEmpty()) {
            break;
          }
        }
      }
    }
    found.sort(Comparator.comparingLong(Line::id));
    return found;
  }

  private static boolean isNamed(FiberCore<?> fiber, String part) {
    return part.isEmpty()
        || fiber.name().toLowerCase(Locale.ROOT).contains(part)
        || String.valueOf(fiber.id()).equals(part);
  }

  /** Returns all that is known of a fiber, with its stack; empty if it has ended. */
  public static Optional<FiberDump.Entry> entry(long id) {
    LockOwners owners = new LockOwners(Watchdog::fibers);
    return fibers()
        .filter(fiber -> fiber.id() == id)
        .findFirst()
        .map(fiber -> Dumps.entry(fiber, owners));
  }

  /** Returns the tree of scopes, as lines with a depth. */
  public static List<ScopeLooks.Line> scopes(int most) {
    return ScopeLooks.tree(fibers(), most);
  }

  /** Returns a fiber as a line. */
  public static Line line(FiberCore<?> fiber, long now) {
    Thread thread = fiber.threadOrNull();
    Detour away = fiber.away;
    boolean waits = fiber.isWaiting();
    boolean sleeps = waits && FiberCounts.sleeps(fiber);
    String state =
        away != null && away.isOnHelper()
            ? away.pins() ? "BLOCKING" : "COMPUTING"
            : sleeps ? "SLEEPING" : fiber.status().name();
    return new Line(
        fiber.id(),
        fiber.name(),
        fiber.scheduler().name(),
        state,
        fiber.worker.index,
        waits && !sleeps && thread != null ? waitsFor(thread) : "",
        waits ? Math.max(0, now - fiber.since) : 0);
  }

  private static String waitsFor(Thread thread) {
    Object blocker = LockSupport.getBlocker(thread);
    if (blocker == null && thread.getState() == Thread.State.BLOCKED) {
      return "a monitor"; // which one is told with the stack: it takes a snapshot to know
    }
    return WaitText.of(
        blocker == null ? null : new LockOwners.BlockedOn(blocker, false, null),
        Dumps.framesOf(thread));
  }

  private static void forEachFiber(Consumer<FiberCore<?>> visitor) {
    for (SchedulerCore scheduler : schedulers()) {
      for (Worker worker : scheduler.workers) {
        int from = 0;
        List<FiberCore<?>> some = worker.someFibers(from, STEP);
        while (!some.isEmpty()) {
          some.forEach(visitor);
          from += STEP;
          some = worker.someFibers(from, STEP);
        }
      }
    }
  }

  private static Stream<FiberCore<?>> fibers() {
    List<FiberCore<?>> all = new ArrayList<>();
    forEachFiber(all::add);
    return all.stream();
  }
}
