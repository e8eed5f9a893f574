package dev.weft.internal.sched;

import static dev.weft.Eventually.eventually;

import dev.weft.Fiber;
import dev.weft.Scheduler;

/** The cores of fibers and schedulers, for tests that look behind the faces. */
public final class Cores {
  private Cores() {}

  /**
   * Waits until a worker is in its poller, with all its looks for ready fibers behind it; a worker
   * that has only set asleep may still find a fiber.
   */
  static void awaitSleep(Worker worker) {
    eventually("the worker sleeps", () -> worker.isAsleep() && worker.polls());
  }

  public static <T> FiberCore<T> core(Fiber<T> fiber) {
    return (FiberCore<T>) fiber;
  }

  public static SchedulerCore core(Scheduler scheduler) {
    return (SchedulerCore) scheduler;
  }
}
