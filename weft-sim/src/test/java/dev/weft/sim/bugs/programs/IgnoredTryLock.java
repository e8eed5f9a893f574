package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A thread that does not get a lock goes on as if it had it.
 *
 * <p>After the classic tryLock with its result ignored.
 */
final class IgnoredTryLock {
  static final KnownBug BUG =
      KnownBug.of(
          IgnoredTryLock.class,
          "the classic tryLock with its result ignored",
          Kind.ATOMICITY,
          () -> run(new Meter()),
          () -> run(new FixedMeter()));

  private IgnoredTryLock() {}

  private static void run(Meter meter) throws Exception {
    Together.run(meter, Meter::count, Meter::count);
    Check.equal(2, meter.counted, "counted");
  }

  private static class Meter {
    final ReentrantLock lock = new ReentrantLock();
    int counted;

    void acquire() {
      boolean _ = lock.tryLock();
    }

    void count() {
      acquire();
      try {
        counted = counted + 1;
      } finally {
        if (lock.isHeldByCurrentThread()) {
          lock.unlock();
        }
      }
    }
  }

  private static final class FixedMeter extends Meter {
    @Override
    void acquire() {
      lock.lock();
    }
  }
}
