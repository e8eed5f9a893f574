package dev.weft.internal.sched;

import dev.weft.internal.Log;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that run the fibers which are {@link SetApart}: of this JVM, as many as it has cores;
 * they end when they have been idle for a while. Fibers that are ready wait in a FIFO queue, to
 * which a thread adds without a lock: it may be a fiber that wakes another.
 */
final class ComputingThreads {
  private static final long IDLE_SECONDS = 10;
  private static final ThreadPoolExecutor POOL = newPool();

  private ComputingThreads() {}

  private static ThreadPoolExecutor newPool() {
    int most = Runtime.getRuntime().availableProcessors();
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedTransferQueue<>(),
            Thread.ofPlatform()
                .daemon()
                .name("weft-computing-", 1)
                .inheritInheritableThreadLocals(false)
                .factory());
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Makes sure that a thread runs; returns false if none can be started. */
  static boolean prepare() {
    try {
      POOL.prestartCoreThread();
      return POOL.getPoolSize() > 0;
    } catch (OutOfMemoryError e) { // no memory, or no more threads that the system allows
      Log.warn("a fiber that computes stays on its worker: no thread can be started: " + e);
      return false;
    }
  }

  /** Has a thread run the slice; returns false if none can be started. */
  static boolean execute(Runnable slice) {
    try {
      POOL.execute(slice);
      return true;
    } catch (OutOfMemoryError e) {
      return POOL.getPoolSize() > 0 && POOL.getQueue().offer(slice);
    }
  }
}
