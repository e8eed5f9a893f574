package dev.weft.internal.blocking;

import dev.weft.internal.Log;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The helpers: the threads that run the bodies of {@link dev.weft.Weft#blocking}. They are started
 * on demand, up to a limit, and end when they have been idle for a while. Calls that find no free
 * helper wait in a fair queue.
 *
 * <p>Invariant: a call in the queue will be taken, because at least one helper lives that will poll
 * the queue.
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
   * Returns the helpers of this JVM, which all schedulers share.
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

  /** Returns the limit on the number of helpers that the value of the property means. */
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
      // refused below, like 0
    }
    throw new IllegalArgumentException(
        "-D" + LIMIT + " must be a number of 1 or more, not '" + asked + "'");
  }

  /** Has a helper run the call, now or later; returns false if there is none and none can start. */
  boolean submit(Runnable call) {
    try {
      pool.execute(call);
      return true;
    } catch (OutOfMemoryError e) { // no memory, or no more threads that the system allows
      queue.put(call);
      if (pool.getPoolSize() > 0 || !queue.remove(call)) {
        return true; // a living helper takes it, or has taken it
      }
      Log.logger()
          .log(
              Level.WARNING,
              "a blocking call blocks its worker: no helper thread can be started: " + e);
      return false;
    }
  }

  /** Takes back a call that has not been taken yet. */
  void remove(Runnable call) {
    queue.remove(call);
  }

  /** Queues a call because the number of helpers is at its limit. */
  private void enqueue(Runnable call) {
    queue.put(call);
    if (pool.getPoolSize() == 0 && queue.remove(call)) {
      pool.execute(call); // the last helper has ended meanwhile
    }
  }

  /**
   * The helpers in numbers.
   *
   * @param threads helper threads that live
   * @param queued calls that wait for a helper
   * @param most how many helper threads there may be
   */
  public record Figures(int threads, int queued, int most) {}

  /** Returns the helpers of this JVM in numbers, also before the first call has needed one. */
  public static Figures figures() {
    Helpers made = ofJvm;
    return made == null
        ? new Figures(0, 0, limit(System.getProperty(LIMIT)))
        : new Figures(made.threads(), made.queued(), made.pool.getMaximumPoolSize());
  }

  /** Returns how many helpers there are, idle ones included. */
  public int threads() {
    return pool.getPoolSize();
  }

  /** Returns how many helpers there may be. */
  public int limit() {
    return pool.getMaximumPoolSize();
  }

  /** Returns how many calls wait for a helper. */
  public int queued() {
    return queue.size();
  }

  /**
   * offer succeeds only if an idle helper takes the call at once. So ThreadPoolExecutor.execute
   * starts a thread otherwise, and only at the limit calls the rejection handler, which queues it.
   */
  private static final class HandOver extends LinkedTransferQueue<Runnable> {
    private static final long serialVersionUID = 1;

    @Override
    public boolean offer(Runnable call) {
      return tryTransfer(call);
    }
  }
}
