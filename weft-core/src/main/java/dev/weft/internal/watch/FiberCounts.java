package dev.weft.internal.watch;

import dev.weft.internal.sched.Detour;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SetApart;
import dev.weft.internal.switching.Mounting;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** Counts fibers by state; each fiber is in one of the sets. */
public final class FiberCounts implements Consumer<FiberCore<?>> {
  /** The sets. */
  public enum State {
    READY,
    RUNNING,
    SLEEPING,
    WAITING,
    /** On a helper thread, in a blocking call. */
    BLOCKING,
    /** Waits for a helper thread. */
    AWAITING_HELPER,
    DONE
  }

  private final Map<State, Count> counts = new EnumMap<>(State.class);

  private int apart;

  private static final class Count {
    int value;
  }

  @Override
  public void accept(FiberCore<?> fiber) {
    count(fiber);
  }

  /** Counts a fiber and returns its state. */
  State count(FiberCore<?> fiber) {
    State state = stateOf(fiber);
    counts.computeIfAbsent(state, _ -> new Count()).value++;
    apart += fiber.away instanceof SetApart ? 1 : 0;
    return state;
  }

  /** Returns how many of the fibers are set apart, in whatever state. */
  public int apart() {
    return apart;
  }

  public int of(State state) {
    Count count = counts.get(state);
    return count == null ? 0 : count.value;
  }

  /** Returns the state of a fiber, as it is now. */
  public static State stateOf(FiberCore<?> fiber) {
    Detour away = fiber.away;
    if (away != null && !(away instanceof SetApart) && away.isOnHelper()) {
      return State.BLOCKING;
    }
    if (away != null && away.isWaiting()) { // false of a fiber that is set apart
      return State.AWAITING_HELPER;
    }
    return switch (fiber.status()) {
      case READY -> State.READY;
      case RUNNING -> State.RUNNING;
      case WAITING -> sleeps(fiber) ? State.SLEEPING : State.WAITING;
      case DONE -> State.DONE;
    };
  }

  /**
   * Returns whether a waiting fiber sleeps. {@code Thread.sleep} is a timed park that names no
   * blocker; so is {@code LockSupport.parkNanos(long)}, which only a stack could tell from it.
   */
  static boolean sleeps(FiberCore<?> fiber) {
    Thread thread = fiber.threadOrNull();
    if (thread == null) {
      return false;
    }
    Object blocker = LockSupport.getBlocker(thread);
    return blocker == null ? Mounting.isParkedForATime(thread) : blocker == FiberCore.SLEEPING;
  }
}
