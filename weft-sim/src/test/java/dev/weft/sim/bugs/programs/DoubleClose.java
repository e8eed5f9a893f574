package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Two threads close one handle; both find it open, and its descriptor is given back twice.
 *
 * <p>After Tu et al. 2019, channels that are closed twice.
 */
final class DoubleClose {
  static final KnownBug BUG =
      KnownBug.of(
          DoubleClose.class,
          "Tu et al. 2019, channels that are closed twice",
          Kind.ATOMICITY,
          () -> run(new Handle()),
          () -> run(new FixedHandle()));

  private DoubleClose() {}

  private static void run(Handle handle) throws Exception {
    Together.run(handle, Handle::close, Handle::close);
    Check.equal(1, handle.released.get(), "releases of the descriptor");
  }

  private static class Handle {
    final AtomicBoolean closed = new AtomicBoolean();
    final AtomicInteger released = new AtomicInteger();

    boolean isFirstClose() {
      if (closed.get()) {
        return false;
      }
      closed.set(true);
      return true;
    }

    void close() {
      if (isFirstClose()) {
        released.incrementAndGet();
      }
    }
  }

  private static final class FixedHandle extends Handle {
    @Override
    boolean isFirstClose() {
      return closed.compareAndSet(false, true);
    }
  }
}
