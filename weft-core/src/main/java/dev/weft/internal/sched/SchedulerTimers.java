package dev.weft.internal.sched;

import dev.weft.Body;
import dev.weft.FiberOptions;
import dev.weft.internal.Clock;
import dev.weft.internal.timer.TimerHost;
import dev.weft.internal.timer.TimerPlace;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A scheduler's timers. A timer that a fiber sets is in the timer wheel of its worker; a timer that
 * a plain thread sets is in the wheel of a worker that the thread's id selects.
 */
final class SchedulerTimers implements TimerHost {
  private final SchedulerCore scheduler;

  // copies of the scheduler's clock and the placement's table, to save a load or two: setting a
  // timer from outside takes as long as some twenty dependent loads
  private final Clock clock;
  private final Worker[] byThread;
  private final int threadMask;
  private final boolean useCaller;

  // recurring timers that have not ended; one-shots are counted by the workers
  private final AtomicInteger recurring = new AtomicInteger();

  // callbacks of recurring timers that have begun and not ended
  private final AtomicInteger recurringRuns = new AtomicInteger();

  SchedulerTimers(SchedulerCore scheduler) {
    this.scheduler = scheduler;
    this.clock = scheduler.clock;
    this.byThread = scheduler.placement.byThread;
    this.threadMask = scheduler.placement.threadMask;
    this.useCaller = scheduler.placement.useCaller;
  }

  @Override
  public long now() {
    return clock.nanoTime();
  }

  @Override
  public TimerPlace place() {
    Worker worker = scheduler.currentWorker();
    if (worker != null) {
      return worker;
    }
    return useCaller
        ? scheduler.placement.forThread() // checks whether the caller thread serves
        : byThread[(int) Thread.currentThread().threadId() & threadMask];
  }

  @Override
  public void checkOpen() {
    if (!scheduler.isOpen()) {
      throw new RejectedExecutionException(scheduler + " has been stopped");
    }
    CurrentFiber.yieldIfSliceExpired();
  }

  @Override
  public boolean fire(Body callback, boolean oneShot, Runnable after) {
    if (!oneShot && scheduler.isDrainedBut(recurringRuns.get())) {
      return false; // recurring timers could keep each other and the scheduler alive
    }
    Body reported =
        () -> {
          try {
            callback.run();
          } catch (Throwable e) {
            scheduler.unobserved.report(Objects.requireNonNull(FiberCore.currentOrNull()), e);
          } finally {
            if (!oneShot) {
              recurringRuns.decrementAndGet();
            }
            after.run();
          }
        };
    try {
      scheduler.begin(TIMER, reported);
    } catch (RejectedExecutionException e) {
      return false; // the scheduler has just stopped, which ends its recurring timers
    }
    if (!oneShot) {
      recurringRuns.incrementAndGet(); // after the fiber is counted: never more than live fibers
    }
    return true;
  }

  private static final FiberOptions TIMER = FiberOptions.named("timer");

  @Override
  public void countRecurring(int change) {
    recurring.addAndGet(change);
  }

  @Override
  public int pending() {
    return scheduler.hasStopped() ? 0 : oneShots() + recurring.get();
  }

  /** Returns whether no timer is left but, perhaps, recurring ones. */
  boolean onlyRecurringLeft() {
    int queued = 0;
    for (Worker worker : scheduler.workers) {
      queued += worker.timerCount();
    }
    return queued <= recurring.get();
  }

  boolean anyRecurring() {
    return recurring.get() > 0;
  }

  int oneShots() {
    int sum = 0;
    for (Worker worker : scheduler.workers) {
      sum += worker.oneShots();
    }
    return sum;
  }
}
