package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * Deliveries and sales of one stock hold different locks.
 *
 * <p>After SCTBench concurrent-software-benchmarks/wronglock_bad.
 */
final class WrongLock {
  static final KnownBug BUG =
      KnownBug.of(
          WrongLock.class,
          "SCTBench concurrent-software-benchmarks/wronglock_bad",
          Kind.ATOMICITY,
          () -> run(new Stock()),
          () -> run(new FixedStock()));

  private WrongLock() {}

  private static void run(Stock stock) throws Exception {
    Together.run(stock, Stock::deliver, Stock::sell, Stock::sell);
    Check.equal(3, stock.items, "items in stock");
  }

  private static class Stock {
    final Object deliveries = new Object();
    final Object sales = new Object();
    int items;

    void deliver() {
      synchronized (deliveries) {
        items = items + 5;
      }
    }

    void sell() {
      synchronized (sales) {
        items = items - 1;
      }
    }
  }

  private static final class FixedStock extends Stock {
    @Override
    void sell() {
      synchronized (deliveries) {
        items = items - 1;
      }
    }
  }
}
