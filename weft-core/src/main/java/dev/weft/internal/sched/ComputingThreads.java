package dev.weft.internal.sched;

import dev.weft.internal.Log;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads that run the fibers which are {@link SetApart}: of this JVM, as many as it has cores;
 * they end when they have been idle for a while. Fibers that are ready wait in a FIFO queue, to
 * which a thread adds without a lock: it may be a fiber that wakes another. While slices without
 * end hold all these threads, which the watchdog finds out, workers run the other fibers.
 */
public final class ComputingThreads {
  private static final long IDLE_SECONDS = 10;
  private static final int MOST = Runtime.getRuntime().availableProcessors();
  private static final Set<ComputingThread> THREADS = ConcurrentHashMap.newKeySet();
  private static final AtomicInteger LAST_NAME = new AtomicInteger();
  private static final ThreadPoolExecutor POOL = newPool();

  // whether slices without end hold all threads; written by the watchdog
  private static volatile boolean held;

  private ComputingThreads() {}

  private static ThreadPoolExecutor newPool() {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            MOST,
            MOST,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedTransferQueue<>(),
            ComputingThread::new);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** A thread of the pool, and the slice that it runs. */
  public static final class ComputingThread extends Thread {
    // of the slice under way; null between slices. Written by this thread
    private volatile @Nullable FiberCore<?> fiber;

    // slices begun; written by this thread
    private volatile long slices;

    // by the watchdog alone: the slice that its last look saw, and for how long
    private long seen;
    private long heldFor;

    private ComputingThread(Runnable loop) {
      super(null, loop, "weft-computing-" + LAST_NAME.incrementAndGet(), 0, false);
      setDaemon(true);
    }

    @Override
    public void run() {
      THREADS.add(this);
      try {
        super.run();
      } finally {
        THREADS.remove(this);
      }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // by this thread alone
    void beginSlice(FiberCore<?> begins) {
      slices++;
      fiber = begins;
    }

    void endSlice() {
      fiber = null;
    }

    /** Returns the fiber that runs a slice here, or null. */
    public @Nullable FiberCore<?> fiber() {
      return fiber;
    }

    /** Returns how many slices have begun here. */
    public long slices() {
      return slices;
    }

    /**
     * Called by the watchdog at each look, with the time since the last look: returns for how long
     * it has seen the slice under way, 0 if there is none or it is new.
     */
    public long look(long elapsed) {
      long count = slices;
      if (fiber == null || count != seen) {
        seen = count;
        heldFor = 0;
      } else {
        heldFor += elapsed;
      }
      return heldFor;
    }
  }

  /** Returns the threads that there are now. */
  public static Set<ComputingThread> all() {
    return THREADS;
  }

  /**
   * Called by the watchdog at each look, with the number of threads that a slice holds for so long
   * that it may never end: if these are all, workers run the other fibers that are set apart.
   */
  public static void noteHeld(int threads) {
    boolean all = threads >= MOST;
    if (held != all) {
      held = all;
    }
    if (all) {
      for (Runnable next = POOL.getQueue().poll(); next != null; next = POOL.getQueue().poll()) {
        ((SetApart) next).giveToWorker();
      }
    }
  }

  /** Makes sure that a thread runs; returns false if none can be started. */
  static boolean prepare() {
    try {
      POOL.prestartCoreThread();
      return POOL.getPoolSize() > 0;
    } catch (OutOfMemoryError e) { // no memory, or no more threads that the system allows
      Log.logger()
          .log(
              Level.WARNING,
              "a fiber that computes stays on its worker: no thread can be started: " + e);
      return false;
    }
  }

  /** Has a thread run the slice; returns false if a worker is to run it. */
  static boolean execute(SetApart slice) {
    return !held && slice.offerTo(POOL);
  }
}
