package dev.weft;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the process alive while a scheduler of daemon threads has fibers: a thread that is no
 * daemon and lives as long as they do. It lingers a little, so that a fiber now and then does not
 * start a thread each.
 *
 * <p>Invariant: after {@link #ensure} has returned there is a keeper, and a keeper looks at the
 * count once more after it has given up its place.
 */
final class KeepAlive {
  private static final long LINGER_NANOS = 20_000_000;

  private final LiveCount live;
  private final AtomicReference<@Nullable Thread> keeper = new AtomicReference<>();

  KeepAlive(LiveCount live) {
    this.live = live;
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
      while (!live.isZero()) {
        LockSupport.parkNanos(this, LINGER_NANOS);
      }
      keeper.set(null);
    } while (!live.isZero() && keeper.compareAndSet(null, me));
  }
}
