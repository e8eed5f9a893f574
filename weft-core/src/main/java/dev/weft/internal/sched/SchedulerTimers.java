package dev.weft.internal.sched;

import dev.weft.Body;
import dev.weft.FiberOptions;
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

  // recurring timers that have not ended; one-shots are counted by the workers
  private final AtomicInteger recurring = new AtomicInteger();

  // callbacks of recurring timers that have begun and not ended
  private final AtomicInteger recurringRuns = new AtomicInteger();

  SchedulerTimers(SchedulerCore scheduler) {
    this.scheduler = scheduler;
  }

  @Override
  public long now() {
    return scheduler.clock.nanoTime();
  }

  @Override
  public TimerPlace place() {
    Worker worker = scheduler.currentWorker();
    return worker != null ? worker : scheduler.placement.forThread();
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
