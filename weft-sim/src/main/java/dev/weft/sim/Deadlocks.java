package dev.weft.sim;

import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.watch.DeadlockCycles;
import dev.weft.internal.watch.LockOwners;
import dev.weft.internal.watch.LockOwners.BlockedOn;
import dev.weft.sim.RunResult.TraceEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds fibers that wait for each other in a circle, and says why nothing goes on. Asked when no
 * fiber is ready, so nothing moves while it looks.
 *
 * <p>A circle in which each fiber waits for a monitor, or in {@code lock()}, can end by nothing,
 * whatever other fibers and timers do: it is a deadlock as soon as it is there. A circle with a
 * wait that an interrupt or a cancellation ends may be what a supervisor waits for, and gets {@link
 * #SUPERVISED} more timers.
 *
 * <p>To look for owners of monitors takes a snapshot of each fiber. So a fiber is looked at when it
 * has not run for {@link #SETTLED} timers, and not again in the same wait.
 */
final class Deadlocks {
  /** After so many timers a wait is no short one. */
  private static final int SETTLED = 4;

  /** After so many timers nothing comes and ends a wait that could be interrupted. */
  private static final int SUPERVISED = 1_000;

  private Deadlocks() {}

  /**
   * Looks for a circle, before time passes to the next timer.
   *
   * @return what to say of it; null if there is none
   */
  static @Nullable String circleBeforeTimer(List<Lane> lanes) {
    boolean due = false;
    int longest = 0;
    List<Lane> settled = new ArrayList<>(0);
    for (Lane lane : lanes) {
      if (waitsForOwner(lane)) {
        int timers = ++lane.timersPassed;
        due |= timers == SETTLED || timers == SUPERVISED;
        longest = Math.max(longest, timers);
        if (timers >= SETTLED) {
          settled.add(lane);
        }
      }
    }
    return due ? circle(settled, lanes, longest >= SUPERVISED) : null;
  }

  /** Looks for a circle that nothing can end, when the program's main has ended. */
  static @Nullable String circleAtEnd(List<Lane> lanes) {
    for (Lane lane : lanes) {
      if (waitsForOwner(lane)) {
        return circle(lanes.stream().filter(Deadlocks::waitsForOwner).toList(), lanes, false);
      }
    }
    return null;
  }

  private static boolean waitsForOwner(Lane lane) {
    return !lane.ended
        && !lane.frozen // its host has crashed: it waits for nothing
        && LockOwners.mayWaitForOwner(lane.fiber)
        && !lane.fiber.hasDeadline();
  }

  private static @Nullable String circle(
      List<Lane> waiting, List<Lane> all, boolean alsoInterruptible) {
    List<FiberCore<?>> fibers = waiting.stream().<FiberCore<?>>map(lane -> lane.fiber).toList();
    for (List<FiberCore<?>> circle : DeadlockCycles.circles(fibers)) {
      if (alsoInterruptible || circle.stream().noneMatch(Deadlocks::isInterruptible)) {
        return describe(circle, all);
      }
    }
    return null;
  }

  private static boolean isInterruptible(FiberCore<?> fiber) {
    Thread thread = fiber.threadOrNull();
    if (thread == null || thread.getState() == Thread.State.BLOCKED) {
      return false; // at a monitor
    }
    for (StackTraceElement frame : thread.getStackTrace()) {
      String type = frame.getClassName();
      if (type.startsWith("java.util.concurrent.locks.") || type.startsWith("dev.weft.sync.")) {
        if (frame.getMethodName().equals("lock")) {
          return false;
        }
      } else if (Where.isProgram(type)) {
        return true;
      }
    }
    return true;
  }

  // ---- in words ----

  /** Says that no fiber can go on: what each waits for, and the circles among them. */
  static String allWait(List<Lane> lanes) {
    List<FiberCore<?>> suspects =
        lanes.stream()
            .filter(Deadlocks::waitsForOwner)
            .<FiberCore<?>>map(lane -> lane.fiber)
            .toList();
    List<List<FiberCore<?>>> circles = DeadlockCycles.circles(suspects);
    return circles.isEmpty()
        ? "deadlock: all fibers wait, and no timer is left" + waits(lanes, lanes)
        : describe(circles.getFirst(), lanes);
  }

  private static String describe(List<FiberCore<?>> circle, List<Lane> lanes) {
    List<Lane> inside = new ArrayList<>();
    for (FiberCore<?> fiber : circle) {
      lanes.stream().filter(lane -> lane.fiber == fiber).forEach(inside::add);
    }
    String others = waits(lanes.stream().filter(lane -> !inside.contains(lane)).toList(), lanes);
    String names = inside.stream().map(Lane::name).collect(Collectors.joining(", "));
    return "deadlock: "
        + (inside.size() == 1 ? names + " waits for itself" : names + " wait for each other")
        + waits(inside, lanes)
        + (others.isEmpty() ? "" : "\n  other fibers that wait:" + others);
  }

  /** Returns a line for each fiber that has not ended: where it waits, for what, and its holder. */
  static String waits(List<Lane> some, List<Lane> all) {
    LockOwners owners =
        new LockOwners(() -> all.stream().filter(lane -> !lane.ended).map(lane -> lane.fiber));
    StringBuilder text = new StringBuilder();
    for (Lane lane : some) {
      Thread thread = lane.ended ? null : lane.fiber.threadOrNull();
      if (thread != null) {
        TraceEvent at = Where.of(0, lane.number, thread, lane.frozen ? "is frozen" : "waits");
        text.append("\n    ").append(lane.name()).append(' ').append(at.what());
        text.append(at.place().isEmpty() ? "" : " at " + at.place());
        text.append(reason(owners.blockedOn(lane.fiber), all));
      }
    }
    return text.toString();
  }

  private static String reason(@Nullable BlockedOn blocked, List<Lane> all) {
    if (blocked == null) {
      return "";
    }
    String object = blocked.object().getClass().getSimpleName();
    String what = blocked.isMonitor() ? " for the monitor of " + article(object) : "";
    Thread owner = blocked.owner();
    if (owner == null) {
      return what;
    }
    if (blocked.object() instanceof FiberCore<?>) {
      return ", for the end of " + name(owner, all);
    }
    return (what.isEmpty() ? ", for a lock" : what) + " that " + name(owner, all) + " holds";
  }

  private static String article(String type) {
    if (type.isEmpty()) {
      return "an object";
    }
    return ("AEIOU".indexOf(type.charAt(0)) < 0 ? "a " : "an ") + type;
  }

  private static String name(Thread thread, List<Lane> all) {
    FiberCore<?> fiber = FiberCore.ofOrNull(thread);
    return all.stream()
        .filter(lane -> lane.fiber == fiber)
        .findFirst()
        .map(Lane::name)
        .orElseGet(() -> "the thread " + thread.getName() + ", outside the simulation,");
  }
}
