package dev.weft.internal.blocking;

import dev.weft.internal.Log;
import java.time.Duration;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The threads that run the bodies of {@link dev.weft.Weft#blocking}: made when they are needed, up
 * to a limit, and ended when they have had nothing to do for a while. Calls for which there is none
 * wait in a queue, first come, first served.
 *
 * <p>Invariant: a call that is in the queue will be taken, for there is a thread that will come to
 * it.
 */
public final class Helpers {
  private static final String LIMIT = "weft.blocking.threads";
  private static final Duration IDLE = Duration.ofSeconds(10);

  private static volatile @Nullable Helpers ofJvm;

  private final HandOver queue = new HandOver();
  private final ThreadPoolExecutor pool;

  /** Creates a pool of at most so many threads, which end when they have been idle for so long. */
  Helpers(int most, Duration idle, ThreadFactory factory) {
    pool =
        new ThreadPoolExecutor(
            0,
            most,
            idle.toNanos(),
            TimeUnit.NANOSECONDS,
            queue,
            factory,
            (call, _) -> enqueue(call));
  }

  /**
   * Returns those of the JVM.
   *
   * @throws IllegalArgumentException if {@code -Dweft.blocking.threads} is no such number
   */
  public static Helpers ofJvm() {
    Helpers made = ofJvm;
    return made != null ? made : make();
  }

  private static synchronized Helpers make() {
    Helpers made = ofJvm;
    if (made == null) {
      ofJvm =
          made =
              new Helpers(
                  limit(System.getProperty(LIMIT)),
                  IDLE,
                  Thread.ofPlatform()
                      .daemon()
                      .name("weft-blocking-", 1)
                      .inheritInheritableThreadLocals(false)
                      .factory());
    }
    return made;
  }

  /** Returns how many threads there may be, by what the property says. */
  static int limit(@Nullable String asked) {
    if (asked == null) {
      return Math.max(64, 4 * Runtime.getRuntime().availableProcessors());
    }
    try {
      int limit = Integer.parseInt(asked);
      if (limit >= 1) {
        return limit;
      }
    } catch (NumberFormatException e) {
      // as wrong as 0
    }
    throw new IllegalArgumentException(
        "-D" + LIMIT + " must be a number of 1 or more, not '" + asked + "'");
  }

  /** Has a thread run the call, now or later; returns false if there is none and none to be had. */
  boolean submit(Runnable call) {
    try {
      pool.execute(call);
      return true;
    } catch (OutOfMemoryError e) { // of memory, or of threads that the system allows
      queue.put(call);
      if (pool.getPoolSize() > 0 || !queue.remove(call)) {
        return true; // then one of those that are there comes to it
      }
      Log.warn("a blocking call blocks the thread it is made on: no helper thread, for " + e);
      return false;
    }
  }

  /** Takes back a call that has not been taken yet. */
  void remove(Runnable call) {
    queue.remove(call);
  }

  /** Queues a call because there are as many threads as there may be. */
  private void enqueue(Runnable call) {
    queue.put(call);
    if (pool.getPoolSize() == 0 && queue.remove(call)) {
      pool.execute(call); // the last of them has ended meanwhile
    }
  }

  int threads() {
    return pool.getPoolSize();
  }

  int queued() {
    return queue.size();
  }

  /**
   * Offers go to a thread that waits for one, else nowhere: then the pool makes a thread, and only
   * if it may not, puts the call into the queue.
   */
  private static final class HandOver extends LinkedTransferQueue<Runnable> {
    private static final long serialVersionUID = 1;

    @Override
    public boolean offer(Runnable call) {
      return tryTransfer(call);
    }
  }
}
