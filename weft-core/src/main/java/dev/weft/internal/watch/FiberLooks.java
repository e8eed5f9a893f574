package dev.weft.internal.watch;

import static dev.weft.internal.PlainText.shortened;

import dev.weft.FiberDump;
import dev.weft.Scheduler;
import dev.weft.internal.events.Lane;
import dev.weft.internal.sched.Detour;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Worker;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** Looks at running schedulers from outside, for the console; see {@link FiberWalk} too. */
public final class FiberLooks {
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

  /** Returns the running schedulers, by name; those of one name in the order of their starts. */
  public static List<SchedulerCore> schedulers() {
    return Watchdog.schedulers().stream()
        .filter(scheduler -> !HIDDEN.contains(scheduler))
        .sorted(byName())
        .toList();
  }

  /** The order in which schedulers are shown. */
  public static Comparator<SchedulerCore> byName() {
    return Comparator.comparing(SchedulerCore::name).thenComparingLong(Watchdog::number);
  }

  /** Returns a number that no other scheduler of this process has. */
  public static long id(SchedulerCore scheduler) {
    return Watchdog.number(scheduler);
  }

  /** Returns how many schedulers are not shown: for tests. */
  public static int hidden() {
    return HIDDEN.size();
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

  /** Returns all that is known of a fiber, with its stack; texts of the program are cut. */
  public static FiberDump.Entry entry(FiberCore<?> fiber) {
    FiberDump.Entry entry = Dumps.entry(fiber);
    return new FiberDump.Entry(
        entry.id(),
        shortened(entry.name()),
        entry.status(),
        entry.guest(),
        entry.thread(),
        entry.helper(),
        shortened(entry.waitsFor()),
        shortened(entry.heldBy()),
        entry.waiting(),
        entry.stack());
  }

  /** Returns a fiber as a line; texts of the program are cut. */
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
        shortened(fiber.name()),
        fiber.scheduler().name(),
        state,
        fiber.worker.index,
        waits && !sleeps && thread != null ? shortened(waitsFor(thread)) : "",
        waits ? Math.max(0, now - fiber.since) : 0);
  }

  private static String waitsFor(Thread thread) {
    Object blocker = LockSupport.getBlocker(thread);
    if (blocker == null && thread.getState() == Thread.State.BLOCKED) {
      return WaitText.A_MONITOR; // only the stack tells which monitor
    }
    return WaitText.of(
        blocker == null ? null : new LockOwners.BlockedOn(blocker, false, null),
        Dumps.framesOf(thread));
  }
}
