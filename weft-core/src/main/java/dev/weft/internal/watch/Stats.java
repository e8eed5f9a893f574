package dev.weft.internal.watch;

import dev.weft.Fiber;
import dev.weft.SchedulerStats;
import dev.weft.internal.sched.Detour;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Worker;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** Takes the statistics of a scheduler: its fibers by status, and the counters of its workers. */
public final class Stats {
  private Stats() {}

  /** Returns the numbers of a scheduler, as they are now. */
  public static SchedulerStats of(SchedulerCore scheduler) {
    Map<Fiber.Status, Integer> byStatus = new EnumMap<>(Fiber.Status.class);
    int[] sleeping = new int[1];
    int[] blocking = new int[1];
    int[] awaitingHelper = new int[1];
    scheduler
        .fibers()
        .forEach(
            fiber -> {
              Detour away = fiber.away;
              if (away != null && away.isOnHelper()) {
                blocking[0]++;
                return;
              }
              if (away != null && away.isWaiting()) {
                awaitingHelper[0]++;
                return;
              }
              Fiber.Status status = fiber.status();
              byStatus.merge(status, 1, Integer::sum);
              Thread thread = fiber.threadOrNull();
              if (status == Fiber.Status.WAITING
                  && thread != null
                  && LockSupport.getBlocker(thread) == FiberCore.SLEEPING) {
                sleeping[0]++;
              }
            });
    List<SchedulerStats.OfThread> threads = new ArrayList<>();
    for (Worker worker : scheduler.workers) {
      threads.add(worker.stats());
    }
    long ended = scheduler.live.ended();
    return new SchedulerStats(
        scheduler.live.begun(),
        ended,
        byStatus.getOrDefault(Fiber.Status.READY, 0),
        byStatus.getOrDefault(Fiber.Status.RUNNING, 0),
        sleeping[0],
        byStatus.getOrDefault(Fiber.Status.WAITING, 0) - sleeping[0],
        blocking[0],
        awaitingHelper[0],
        threads);
  }
}
