package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A reader finds no value, gives its read lock back and takes the write lock; another did the same.
 *
 * <p>After the classic upgrade from a read lock to a write lock without a second look.
 */
final class UpgradeToWriteLock {
  static final KnownBug BUG =
      KnownBug.of(
          UpgradeToWriteLock.class,
          "the classic upgrade from a read lock to a write lock without a second look",
          Kind.ATOMICITY,
          () -> run(new Prices()),
          () -> run(new FixedPrices()));

  private UpgradeToWriteLock() {}

  private static void run(Prices prices) throws Exception {
    Together.run(prices, Prices::price, Prices::price);
    Check.equal(1, prices.loads, "loads");
  }

  private static class Prices {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    int price;
    int loads;

    int price() {
      lock.readLock().lock();
      try {
        if (price != 0) {
          return price;
        }
      } finally {
        lock.readLock().unlock();
      }
      lock.writeLock().lock();
      try {
        load();
        return price;
      } finally {
        lock.writeLock().unlock();
      }
    }

    void load() {
      loads = loads + 1;
      price = 42;
    }
  }

  private static final class FixedPrices extends Prices {
    @Override
    void load() {
      if (price == 0) {
        super.load();
      }
    }
  }
}
