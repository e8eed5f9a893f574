package dev.weft.internal.watch;

import dev.weft.Fiber;
import dev.weft.FiberDump;
import dev.weft.GroupedDump;
import dev.weft.internal.JsonText;
import dev.weft.internal.PlainText;
import dev.weft.internal.sched.Detour;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Worker;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
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
        scheduler.name(), scheduler.fibers().map(fiber -> entry(fiber, owners)).toList());
  }

  /** Returns the fibers of a scheduler in groups. */
  public static GroupedDump grouped(SchedulerCore scheduler) {
    LockOwners owners = new LockOwners(Watchdog::fibers);
    List<List<FiberCore<?>>> cycles = Watchdog.cycles(scheduler);
    List<List<FiberDump.Entry>> deadlocks = // first: time for snapshots is limited
        cycles.stream().map(circle -> entries(circle, owners)).toList();
    FiberGroups groups = new FiberGroups(owners);
    for (Worker worker : scheduler.workers) {
      worker.forEachFiber(groups);
    }
    return new GroupedDump(
        scheduler.name(),
        Stats.of(scheduler, groups.counts()),
        Watchdog.standsStill(scheduler),
        deadlocks,
        Watchdog.heldThreads(scheduler),
        groups.holders(cycles),
        groups.groups(),
        groups.ungrouped());
  }

  /** Returns the leaked fibers of a scheduler. */
  public static List<FiberDump.Entry> leaksOf(SchedulerCore scheduler) {
    LockOwners owners = new LockOwners(Watchdog::fibers);
    return LeakCheck.run(Watchdog.schedulers()).stream()
        .filter(fiber -> fiber.scheduler() == scheduler)
        .map(fiber -> entry(fiber, owners))
        .toList();
  }

  /** Returns the leaked fibers of these schedulers in groups, for schedulers that have some. */
  public static List<GroupedDump> groupedLeaks(Collection<SchedulerCore> schedulers) {
    List<FiberCore<?>> leaked = LeakCheck.run(schedulers);
    return schedulers.stream()
        .map(
            scheduler -> {
              FiberGroups groups = new FiberGroups(new LockOwners(Watchdog::fibers));
              leaked.stream().filter(fiber -> fiber.core() == scheduler).forEach(groups);
              return new GroupedDump(
                  scheduler.name(),
                  Stats.of(scheduler, groups.counts()),
                  false,
                  List.of(),
                  List.of(),
                  List.of(),
                  groups.groups(),
                  groups.ungrouped());
            })
        .filter(dump -> dump.fibers() > 0)
        .toList();
  }

  /** Writes every fiber of a scheduler, as {@link FiberDump} does, one after the other. */
  public static void write(SchedulerCore scheduler, boolean json, Appendable out)
      throws IOException {
    LockOwners owners = new LockOwners(Watchdog::fibers);
    String separator = "";
    out.append(
        json
            ? "{\"scheduler\":" + JsonText.quote(scheduler.name()) + ",\"fibers\":["
            : "scheduler " + PlainText.oneLine(scheduler.name()) + "\n");
    for (FiberCore<?> fiber : (Iterable<FiberCore<?>>) scheduler.fibers()::iterator) {
      FiberDump.Entry entry = entry(fiber, owners);
      out.append(separator).append(json ? entry.json() : entry.text());
      separator = json ? ",\n" : "";
    }
    out.append(json ? "]}" : "");
  }

  /** Returns one fiber. */
  public static FiberDump.Entry entry(FiberCore<?> fiber) {
    return entry(fiber, new LockOwners(Watchdog::fibers));
  }

  /** Returns one fiber of many that are shown: the owner of a monitor is not looked for. */
  public static FiberDump.Entry entryOfMany(FiberCore<?> fiber) {
    return entry(fiber, LockOwners.ofNoMonitor());
  }

  private static List<FiberDump.Entry> entries(List<FiberCore<?>> fibers, LockOwners owners) {
    return fibers.stream().map(fiber -> entry(fiber, owners)).toList();
  }

  static FiberDump.Entry entry(FiberCore<?> fiber, LockOwners owners) {
    Fiber.Status status = fiber.status();
    boolean waits = fiber.isWaiting();
    long nanos = waitingNanos(fiber);
    List<StackTraceElement> stack = framesOf(fiber.threadOrNull());
    return entry(fiber, status, waits, waits ? owners.blockedOn(fiber) : null, stack, nanos);
  }

  /** Returns a fiber as it was when these were read: it may have gone on. */
  static FiberDump.Entry entry(
      FiberCore<?> fiber,
      Fiber.Status status,
      boolean waits,
      LockOwners.@Nullable BlockedOn blockedOn,
      List<StackTraceElement> stack,
      long nanos) {
    Detour away = fiber.away;
    return new FiberDump.Entry(
        fiber.id(),
        fiber.name(),
        status,
        fiber.isGuest(),
        fiber.worker.index,
        away == null ? "" : away.helperName(),
        waits && fiber.threadOrNull() != null ? WaitText.of(blockedOn, stack) : "",
        blockedOn == null ? "" : holder(blockedOn),
        Duration.ofNanos(nanos),
        stack);
  }

  /** Returns for how long a fiber has waited or been in a blocking call; 0 if it does neither. */
  static long waitingNanos(FiberCore<?> fiber) {
    return fiber.isWaiting() || FiberCounts.stateOf(fiber) == FiberCounts.State.BLOCKING
        ? Math.max(0, fiber.core().clock.nanoTime() - fiber.since)
        : 0;
  }

  private static String holder(LockOwners.BlockedOn blockedOn) {
    Thread owner = blockedOn.owner();
    return owner == null || blockedOn.object() instanceof Fiber<?> ? "" : FiberCore.describe(owner);
  }

  /** Returns the innermost frame of neither the JDK nor Weft; if there is none, the innermost. */
  public static String ownFrame(FiberDump.Entry entry) {
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
