package dev.weft;

import dev.weft.internal.TimerHost;
import dev.weft.internal.timer.TimerNode;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** A scheduler's timers: in the queue of the worker that sets them, or of any, from outside. */
final class TimersOfWorkers implements TimerHost {
  private final Scheduler scheduler;

  // timers that have not ended
  private final AtomicInteger oneShots = new AtomicInteger();
  private final AtomicInteger recurring = new AtomicInteger();

  // callbacks of recurring timers that have begun and not ended
  private final AtomicInteger recurringRuns = new AtomicInteger();

  TimersOfWorkers(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  @Override
  public long now() {
    return scheduler.clock.nanoTime();
  }

  @Override
  public Object arm(TimerNode node, long deadline) {
    Worker worker = scheduler.servingWorker();
    if (worker == null) {
      worker = scheduler.placeForThread();
    }
    worker.addTimer(node, deadline);
    return worker;
  }

  @Override
  public boolean disarm(Object place, TimerNode node) {
    return ((Worker) place).removeTimer(node);
  }

  @Override
  public void fire(Body callback, boolean oneShot, Runnable after) {
    if (!oneShot && scheduler.isDrainedBut(recurringRuns.get())) {
      return; // or a few of them could keep each other and the scheduler alive
    }
    Body reported =
        () -> {
          try {
            callback.run();
          } catch (Throwable e) {
            scheduler.unobserved.report(Fiber.current().orElseThrow(), e);
          } finally {
            if (!oneShot) {
              recurringRuns.decrementAndGet();
            }
            after.run();
          }
        };
    if (!oneShot) {
      recurringRuns.incrementAndGet();
    }
    try {
      scheduler.begin(TIMER, reported);
    } catch (RejectedExecutionException e) {
      // the scheduler has just stopped, and its recurring timers with it
    }
  }

  private static final FiberOptions TIMER = FiberOptions.named("timer");

  @Override
  public void pending(int change, boolean oneShot) {
    int left = (oneShot ? oneShots : recurring).addAndGet(change);
    if (oneShot && left == 0) {
      scheduler.wakeToStop();
    }
    if (change > 0 && !scheduler.isOpen()) {
      pending(-change, oneShot);
      throw new RejectedExecutionException(scheduler + " has been stopped");
    }
    if (change > 0) {
      Fiber.giveWay();
    }
  }

  @Override
  public int pending() {
    return oneShots.get() + recurring.get();
  }

  int oneShots() {
    return oneShots.get();
  }
}
