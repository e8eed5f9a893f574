package dev.weft.internal.sched;

import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The operations of the current fiber on itself: yield, sleep, suspend, move, and the first step of
 * every call of Weft's that may wait. Outside fibers a sleep parks the thread; the others throw.
 */
public final class CurrentFiber {
  private CurrentFiber() {}

  /** See {@link dev.weft.Fiber#yield}. */
  public static void yieldNow() {
    self("yield").throwIfCancelled();
    Thread.yield();
  }

  /**
   * Yields if the policy limits slices and the current slice has expired; called by every entry
   * into Weft that does not wait.
   */
  public static void yieldIfSliceExpired() {
    yieldIfSliceExpired(FiberCore.currentOrNull());
  }

  private static void yieldIfSliceExpired(@Nullable FiberCore<?> self) {
    if (self != null) {
      SchedulerCore at = self.core();
      if (at.sliceNanos > 0
          && !self.isOnHelper()
          && at.clock.nanoTime() - self.since > at.sliceNanos) {
        Thread.yield();
      }
    }
  }

  /**
   * Begins a call that may wait: yields if the slice is used up, and is a cancel point. Returns the
   * fiber that calls, or null on a plain thread.
   *
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline
   */
  public static @Nullable FiberCore<?> enterWait() throws InterruptedException {
    FiberCore<?> self = FiberCore.currentOrNull();
    yieldIfSliceExpired(self);
    FiberCancel.throwIfInterrupted(self);
    return self;
  }

  /** See {@link dev.weft.Fiber#sleep}. */
  public static void sleep(Duration duration) throws InterruptedException {
    FiberCore<?> self = FiberCore.currentOrNull();
    if (self == null) {
      Thread.sleep(duration);
      return;
    }
    FiberCancel.throwIfInterrupted(self);
    try (WaitLimit timeout = Timeout.of(self, duration)) {
      while (timeout.park(FiberCore.SLEEPING)) {
        FiberCancel.throwIfInterrupted(self);
      }
    }
    FiberCancel.throwIfInterrupted(self);
  }

  /** See {@link dev.weft.Fiber#suspend}. */
  public static void suspend() {
    self("suspend").suspendSelf();
  }

  /** See {@link dev.weft.Fiber#switchTo(Scheduler)}. */
  public static void switchTo(Scheduler target) {
    FiberCore<?> self = self("switch");
    self.throwIfCancelled();
    SchedulerCore core = (SchedulerCore) target;
    Moving.move(self, core, core.placement.forNew(null), FiberOptions.ANY_THREAD);
  }

  /** See {@link dev.weft.Fiber#switchTo(int)}. */
  public static void switchTo(int threadIndex) {
    FiberCore<?> self = self("switch");
    self.throwIfCancelled();
    Moving.move(self, self.core(), self.core().worker(threadIndex), threadIndex);
  }

  /** See {@link dev.weft.Fiber#threadIndex}. */
  public static int threadIndex() {
    FiberCore<?> self = FiberCore.currentOrNull();
    Worker here = self == null ? null : self.workerHere();
    return here == null ? -1 : here.index;
  }

  private static FiberCore<?> self(String verb) {
    FiberCore<?> self = FiberCore.currentOrNull();
    if (self == null) {
      throw new IllegalStateException(
          "cannot " + verb + " outside a fiber: call it in a body that was given to go()");
    }
    return self;
  }
}
