package dev.weft.internal.watch;

import dev.weft.Fiber;
import dev.weft.FiberDump;
import dev.weft.internal.sched.Detour;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Takes dumps: the status of each fiber, what it waits for, and the thread that holds that. */
public final class Dumps {
  /** Classes of the JDK and of Weft: a report names the user's own line. */
  private static final Pattern LIBRARY =
      Pattern.compile(
          "(java|javax|jdk|sun)\\.|dev\\.weft\\.(\\p{Lu}|sync\\.|channel\\.|internal\\.)");

  private Dumps() {}

  /** Returns every fiber of a scheduler. */
  public static FiberDump of(SchedulerCore scheduler) {
    LockOwners owners = new LockOwners(Watchdog::fibers);
    return new FiberDump(
        scheduler.name(),
        scheduler.fibers().map(fiber -> entry(fiber, scheduler, owners)).toList());
  }

  /** Returns the leaked fibers of a scheduler. */
  public static List<FiberDump.Entry> leaksOf(SchedulerCore scheduler) {
    LockOwners owners = new LockOwners(Watchdog::fibers);
    return LeakCheck.run(Watchdog.schedulers()).stream()
        .filter(fiber -> fiber.scheduler() == scheduler)
        .map(fiber -> entry(fiber, scheduler, owners))
        .toList();
  }

  static FiberDump.Entry entry(FiberCore<?> fiber, SchedulerCore scheduler, LockOwners owners) {
    Thread thread = fiber.threadOrNull();
    Fiber.Status status = fiber.status();
    boolean waits = fiber.isWaiting();
    long nanos = waits ? scheduler.clock.nanoTime() - fiber.since : 0;
    List<StackTraceElement> stack = framesOf(thread);
    LockOwners.BlockedOn blockedOn = waits ? owners.blockedOn(fiber) : null;
    Detour away = fiber.away;
    return new FiberDump.Entry(
        fiber.id(),
        fiber.name(),
        status,
        fiber.isGuest(),
        fiber.worker.index,
        away == null ? "" : away.helperName(),
        waits && thread != null ? describe(blockedOn, stack) : "",
        blockedOn == null ? "" : holder(blockedOn),
        Duration.ofNanos(Math.max(0, nanos)),
        stack);
  }

  private static String describe(
      LockOwners.@Nullable BlockedOn blockedOn, List<StackTraceElement> stack) {
    if (blockedOn == null) {
      return stack.isEmpty() ? "its start" : stack.getFirst().toString();
    }
    Object object = blockedOn.object();
    if (object instanceof Fiber<?> fiber) {
      return "the end of " + fiber;
    }
    if (blockedOn.isMonitor()) {
      return "the monitor of " + Objects.toIdentityString(object);
    }
    try {
      return "" + object; // toString() may return null
    } catch (Throwable e) { // a blocker may be any object, with any toString()
      return "a " + object.getClass().getName() + " (its toString() threw " + e + ")";
    }
  }

  private static String holder(LockOwners.BlockedOn blockedOn) {
    Thread owner = blockedOn.owner();
    return owner == null || blockedOn.object() instanceof Fiber<?> ? "" : FiberCore.describe(owner);
  }

  /** Returns the innermost frame of neither the JDK nor Weft; if there is none, the innermost. */
  static String ownFrame(FiberDump.Entry entry) {
    return entry.stack().stream()
        .filter(frame -> !LIBRARY.matcher(frame.getClassName()).lookingAt())
        .findFirst()
        .or(() -> entry.stack().stream().findFirst())
        .map(StackTraceElement::toString)
        .orElse("its start");
  }

  static String stackOf(@Nullable Thread thread) {
    StringBuilder out = new StringBuilder();
    for (StackTraceElement frame : framesOf(thread)) {
      out.append("    at ").append(frame).append('\n');
    }
    return out.toString();
  }

  /** The frames of a fiber's thread; none if it has not started or has ended. */
  static List<StackTraceElement> framesOf(@Nullable Thread thread) {
    return thread == null ? List.of() : List.of(thread.getStackTrace());
  }
}
