package dev.weft.internal.sched;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the process alive while a scheduler of daemon threads has fibers, or failures to report, by
 * a non-daemon thread, the keeper. The keeper lingers a little, so that an occasional fiber does
 * not start a new thread each time. Guests are virtual threads of the program and do not count.
 *
 * <p>Invariants: after {@link #ensure} has returned there is a keeper, and a keeper looks once more
 * after it has cleared the field. A failure is noted before its fiber is counted as ended. A guest
 * is counted as live before it is counted here, and as gone here before it is counted as ended.
 */
final class KeepAlive {
  private static final long LINGER_NANOS = 20_000_000;

  private final LiveCount live;
  private final UnobservedFailures unobserved;
  private final AtomicLong guestsBegun = new AtomicLong();
  private final AtomicLong guestsGone = new AtomicLong();
  private final AtomicReference<@Nullable Thread> keeper = new AtomicReference<>();

  KeepAlive(LiveCount live, UnobservedFailures unobserved) {
    this.live = live;
    this.unobserved = unobserved;
  }

  /** Called after a fiber has been counted as begun. */
  void ensure() {
    if (keeper.get() == null) {
      Thread thread =
          Thread.ofPlatform().name("weft-keep-alive").daemon(false).unstarted(this::keep);
      if (keeper.compareAndSet(null, thread)) {
        thread.start();
      }
    }
  }

  private void keep() {
    Thread me = Thread.currentThread();
    do {
      while (isNeeded()) {
        LockSupport.parkNanos(this, LINGER_NANOS);
      }
      keeper.set(null);
    } while (isNeeded() && keeper.compareAndSet(null, me));
  }

  /** Counts a guest, after it has been counted as begun. */
  void guestBegan() {
    guestsBegun.incrementAndGet();
  }

  /** Counts a guest that ends or leaves, before it is counted as ended. */
  void guestGone() {
    guestsGone.incrementAndGet();
  }

  private boolean isNeeded() {
    long gone = guestsGone.get();
    long begun = guestsBegun.get();
    if (live.get() > begun - gone || !unobserved.isIdle()) {
      return true;
    }
    // A guest that came or went in between may hide a fiber: look again later.
    return guestsGone.get() != gone || guestsBegun.get() != begun;
  }
}
