package dev.weft.internal.watch;

import dev.weft.Fiber;
import dev.weft.GroupedDump;
import dev.weft.internal.poller.ReadyEvent;
import dev.weft.internal.sched.Detour;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Timeout;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether all fibers of a scheduler wait for something that cannot come, and reports what
 * each waits for.
 *
 * <pre>
 *   standstill   all fibers of all schedulers wait, and no timer and no I/O is left: found at once
 *                and for certain, unless a plain thread wakes a fiber; the console's own scheduler
 *                does not count, since its fibers wake no other
 *   leak         all fibers of one scheduler wait, but other schedulers or recurring timers go on:
 *                only {@link LeakCheck} can tell whether those can reach what the fibers wait for
 * </pre>
 */
public final class DeadlockReport {
  /** How many fibers a report lists one by one; more are grouped, in as many groups at most. */
  private static final int MOST_LINES = 50;

  private static final String TURNS = "dev.weft.internal.net.Turns";
  private static final String LIMIT = Timeout.class.getName();

  private DeadlockReport() {}

  /** Returns the report on a standstill, or null if a fiber can still be woken. */
  public static @Nullable String ofStandstill(SchedulerCore scheduler) {
    Collection<SchedulerCore> all =
        FiberLooks.schedulers().stream().filter(some -> !some.live.isZero()).toList();
    if (!all.contains(scheduler)) {
      return null;
    }
    long slices = slices(all);
    // First what takes no look at a stack: there may be very many stacks.
    if (all.stream().anyMatch(some -> some.hasRecurringTimers() || !some.isStill())
        || !allWait(scheduler)
        || !all.stream().allMatch(some -> some == scheduler || allWait(some))) {
      return null;
    }
    String report =
        of(
            scheduler,
            scheduler.fibers().toList(),
            "all fibers wait, and no timer and no I/O is left to wake one");
    // The report is true only if no fiber has run while it was made.
    return allWait(scheduler) && slices(all) == slices ? report : null;
  }

  /** Returns the report on fibers that were found to be leaked. */
  static String of(SchedulerCore scheduler, List<FiberCore<?>> fibers, String why) {
    StringBuilder report = new StringBuilder();
    report.append("deadlock in ").append(scheduler).append(": ").append(why).append('.');
    LockOwners owners = new LockOwners(Watchdog::fibers);
    if (fibers.size() <= MOST_LINES) {
      fibers.forEach(fiber -> report.append("\n  ").append(Dumps.entry(fiber, owners).summary()));
      return report.toString();
    }
    FiberGroups groups = new FiberGroups(owners);
    fibers.forEach(groups);
    List<GroupedDump.Group> largest = groups.groups();
    largest.stream()
        .limit(MOST_LINES)
        .forEach(group -> report.append("\n  ").append(group.summary()));
    if (largest.size() > MOST_LINES) {
      report.append("\n  and others; groupedDump() and ./weft dump show them");
    }
    return report.toString();
  }

  private static long slices(Collection<SchedulerCore> schedulers) {
    return schedulers.stream().mapToLong(SchedulerCore::slices).sum();
  }

  /** Returns whether a scheduler has fibers and all of them wait without a time limit. */
  static boolean allWait(SchedulerCore scheduler) {
    if (!scheduler.isStill()) {
      return false;
    }
    List<FiberCore<?>> fibers = scheduler.fibers().toList();
    return !fibers.isEmpty() && fibers.stream().allMatch(DeadlockReport::waitsWithoutLimit);
  }

  /**
   * Returns whether a fiber waits, and only another fiber or a plain thread can end its wait.
   * Timers and pollers end a wait with a time limit or for I/O. A wait for a helper thread ends
   * when a helper is free; a wait for a turn at a socket, when the I/O of the thread before has
   * ended.
   */
  static boolean waitsWithoutLimit(FiberCore<?> fiber) {
    Thread thread = fiber.threadOrNull();
    if (thread == null || fiber.status() != Fiber.Status.WAITING) {
      return false;
    }
    Thread.State state = thread.getState();
    if (state != Thread.State.WAITING && state != Thread.State.BLOCKED) {
      return false; // also a fiber that has just been woken and is about to be ready
    }
    Object blocker = LockSupport.getBlocker(thread);
    if (blocker instanceof ReadyEvent || blocker instanceof Detour) {
      return false;
    }
    for (StackTraceElement frame : Dumps.framesOf(thread)) {
      String type = frame.getClassName();
      if (type.startsWith("sun.nio.ch.") || type.equals(TURNS) || type.equals(LIMIT)) {
        return false;
      }
    }
    return true;
  }
}
