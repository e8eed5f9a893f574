package dev.weft;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells whether all fibers of a scheduler wait for something that cannot come, and for what. */
final class DeadlockReport {
  private DeadlockReport() {}

  /** Returns the report, or null if a fiber can still be woken by a timer or by I/O. */
  static @Nullable String of(Scheduler scheduler) {
    if (scheduler.somethingWillCome()) {
      return null;
    }
    List<Fiber<?>> fibers = scheduler.fibers().toList();
    for (Fiber<?> fiber : fibers) {
      if (fiber.status() != Fiber.Status.WAITING || isWokenByJdk(fiber.threadOrNull())) {
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
    return report.toString();
  }

  /** The JDK's own timers and pollers wake those that sleep or do I/O past Weft. */
  private static boolean isWokenByJdk(@Nullable Thread thread) {
    if (thread != null && thread.getState() == Thread.State.TIMED_WAITING) {
      return true;
    }
    for (StackTraceElement frame : FiberDump.framesOf(thread)) {
      if (frame.getClassName().startsWith("sun.nio.ch.")) {
        return true;
      }
    }
    return false;
  }
}
