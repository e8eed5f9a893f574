package dev.weft.internal.sched;

import dev.weft.Fiber;
import dev.weft.Scheduler;

/** The cores of fibers and schedulers, for tests that look behind the faces. */
public final class Cores {
  private Cores() {}

  public static <T> FiberCore<T> core(Fiber<T> fiber) {
    return (FiberCore<T>) fiber;
  }

  public static SchedulerCore core(Scheduler scheduler) {
    return (SchedulerCore) scheduler;
  }
}
