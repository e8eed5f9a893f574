package dev.weft.internal.watch;

import dev.weft.SchedulerStats;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Worker;
import java.util.ArrayList;
import java.util.List;

/** Takes the statistics of a scheduler: its fibers by state, and the counters of its workers. */
public final class Stats {
  private Stats() {}

  /** Returns the numbers of a scheduler, as they are now. */
  public static SchedulerStats of(SchedulerCore scheduler) {
    FiberCounts counts = new FiberCounts();
    for (Worker worker : scheduler.workers) {
      worker.forEachFiber(counts);
    }
    return of(scheduler, counts);
  }

  /** Returns the numbers of a scheduler of which the fibers have been counted. */
  static SchedulerStats of(SchedulerCore scheduler, FiberCounts counts) {
    List<SchedulerStats.OfThread> threads = new ArrayList<>();
    for (Worker worker : scheduler.workers) {
      threads.add(worker.stats());
    }
    long ended = scheduler.live.ended();
    return new SchedulerStats(
        scheduler.live.begun(),
        ended,
        counts.of(FiberCounts.State.READY),
        counts.of(FiberCounts.State.RUNNING),
        counts.of(FiberCounts.State.SLEEPING),
        counts.of(FiberCounts.State.WAITING),
        counts.of(FiberCounts.State.BLOCKING),
        counts.of(FiberCounts.State.AWAITING_HELPER),
        counts.apart(),
        threads);
  }
}
