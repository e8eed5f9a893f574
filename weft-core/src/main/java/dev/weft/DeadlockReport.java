package dev.weft;

import dev.weft.internal.IoWaits;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Tells whether all fibers of a scheduler wait for something that cannot come, and for what. */
final class DeadlockReport {
  private static final String TURNS = "dev.weft.net.Turns";

  private DeadlockReport() {}

  /** Returns the report, or null if a fiber can still be woken by a timer or by I/O. */
  static @Nullable String of(Scheduler scheduler) {
    long slices = scheduler.slices();
    if (!scheduler.isStill()) {
      return null;
    }
    List<Fiber<?>> fibers = scheduler.fibers().toList();
    if (fibers.contains(scheduler.programMain)) {
      return null; // a program's main may wait for a plain thread, a signal, another scheduler
    }
    for (Fiber<?> fiber : fibers) {
      if (fiber.status() != Fiber.Status.WAITING || !waitsForEver(fiber.threadOrNull())) {
        return null;
      }
    }
    if (fibers.isEmpty()) {
      return null;
    }
    StringBuilder report = new StringBuilder();
    report
        .append("deadlock in ")
        .append(scheduler)
        .append(": all fibers wait, and no timer and no I/O is left to wake one.");
    for (Fiber<?> fiber : fibers) {
      report.append("\n  ").append(FiberDump.Entry.of(fiber, scheduler).summary());
    }
    // what was seen of one fiber still holds only if none has run since
    return scheduler.isStill() && scheduler.slices() == slices ? report.toString() : null;
  }

  /**
   * Not so if it waits with a limit or for I/O: then the JDK's own timers and pollers wake it. Nor
   * if they just have, and it is about to be ready. Nor if it waits for a helper thread, for one
   * will be free; or for its turn at a socket, where somebody else, a plain thread maybe, waits.
   */
  private static boolean waitsForEver(@Nullable Thread thread) {
    Thread.State state = thread == null ? Thread.State.NEW : thread.getState();
    if (state != Thread.State.WAITING && state != Thread.State.BLOCKED) {
      return false;
    }
    Object blocker = LockSupport.getBlocker(thread);
    if (blocker instanceof IoWaits.Event || blocker instanceof BlockingCall) {
      return false;
    }
    for (StackTraceElement frame : FiberDump.framesOf(thread)) {
      String type = frame.getClassName();
      if (type.startsWith("sun.nio.ch.") || type.equals(TURNS)) {
        return false;
      }
    }
    return true;
  }
}
