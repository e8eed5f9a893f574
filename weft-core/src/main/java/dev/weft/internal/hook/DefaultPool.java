package dev.weft.internal.hook;

import dev.weft.SchedulerStats;
import dev.weft.internal.sched.JvmHost;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * The scheduler of virtual threads that have none of their own, in the type that the JDK's field
 * has: a pool without threads, which hands each thread to Weft. The JDK calls, of all methods of a
 * {@link ForkJoinPool},
 *
 * <pre>
 *   VirtualThread.submitRunContinuation   execute       a thread's first slice: Weft then gives the
 *                                                       thread an executor of its own
 *   VirtualThread.schedule                schedule      a timed wait in a first slice that a carrier
 *                                                       of the original pool ran
 *   VirtualThreadSchedulerMXBean          get…, setParallelism
 *   jcmd Thread.vthread_scheduler         toString
 * </pre>
 *
 * <p>Its externalSubmit and lazySubmit go to the pool of a carrier of the JDK's, never to this one.
 */
final class DefaultPool extends ForkJoinPool {
  private final ForkJoinPool original;

  DefaultPool(ForkJoinPool original) {
    super(1);
    this.original = original;
  }

  @Override
  public void execute(Runnable slice) {
    JvmHost.begin(slice);
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
    return original.schedule(command, delay, unit);
  }

  // ---- what the tools of the JDK ask ----

  private static SchedulerStats stats() {
    return JvmHost.scheduler().stats();
  }

  @Override
  public int getParallelism() {
    return JvmHost.scheduler().threads();
  }

  @Override
  public int setParallelism(int size) {
    throw new UnsupportedOperationException(
        "cannot change the parallelism: virtual threads run on %s of Weft, which keeps the threads it was built with"
            .formatted(JvmHost.scheduler()));
  }

  @Override
  public int getPoolSize() {
    return JvmHost.scheduler().threads();
  }

  @Override
  public int getActiveThreadCount() {
    return stats().running();
  }

  @Override
  public long getQueuedTaskCount() {
    return stats().ready();
  }

  @Override
  public int getQueuedSubmissionCount() {
    return 0;
  }

  @Override
  public String toString() {
    SchedulerStats stats = stats();
    return "%s of Weft[threads = %d, running = %d, ready = %d, waiting = %d]"
        .formatted(
            JvmHost.scheduler(),
            stats.threads().size(),
            stats.running(),
            stats.ready(),
            stats.sleeping() + stats.waiting());
  }
}
