package dev.weft.internal.beans;

import dev.weft.Scheduler;
import dev.weft.SchedulerMXBean;
import dev.weft.SchedulerStats;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The bean of one scheduler. */
final class SchedulerBean implements SchedulerMXBean {
  /** How old the numbers may be: a client reads all attributes at once, each look walks fibers. */
  private static final long FRESH_NANOS = 100_000_000;

  private final Scheduler scheduler;
  private @Nullable SchedulerStats last;
  private long takenAt;

  SchedulerBean(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  private synchronized SchedulerStats stats() {
    SchedulerStats known = last;
    if (known == null || System.nanoTime() - takenAt > FRESH_NANOS) {
      known = scheduler.stats();
      last = known;
      takenAt = System.nanoTime();
    }
    return known;
  }

  @Override
  public String getName() {
    return scheduler.name();
  }

  @Override
  public long getBegun() {
    return stats().begun();
  }

  @Override
  public long getEnded() {
    return stats().ended();
  }

  @Override
  public int getReady() {
    return stats().ready();
  }

  @Override
  public int getRunning() {
    return stats().running();
  }

  @Override
  public int getSleeping() {
    return stats().sleeping();
  }

  @Override
  public int getWaiting() {
    return stats().waiting();
  }

  @Override
  public int getBlocking() {
    return stats().blocking();
  }

  @Override
  public int getAwaitingHelper() {
    return stats().awaitingHelper();
  }

  @Override
  public int getApart() {
    return stats().apart();
  }

  @Override
  public long getSwitches() {
    return getThreads().stream().mapToLong(SchedulerStats.OfThread::switches).sum();
  }

  @Override
  public long getStolen() {
    return getThreads().stream().mapToLong(SchedulerStats.OfThread::stolen).sum();
  }

  @Override
  public int getTimers() {
    return getThreads().stream().mapToInt(SchedulerStats.OfThread::timers).sum();
  }

  @Override
  public int getRescues() {
    return stats().rescues();
  }

  @Override
  public List<SchedulerStats.OfThread> getThreads() {
    return stats().threads();
  }

  @Override
  public String dump() {
    return scheduler.dump().text();
  }

  @Override
  public String groupedDump() {
    return scheduler.groupedDump().text();
  }
}
