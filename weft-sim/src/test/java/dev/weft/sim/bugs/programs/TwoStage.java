package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * A writer sets a price under one lock and the tax that follows from it under another lock; a
 * reader that comes between sees a price without its tax.
 *
 * <p>After SCTBench concurrent-software-benchmarks/twostage_bad.
 */
final class TwoStage {
  static final KnownBug BUG =
      KnownBug.of(
          TwoStage.class,
          "SCTBench concurrent-software-benchmarks/twostage_bad",
          Kind.ATOMICITY,
          () -> run(new Order()),
          () -> run(new FixedOrder()));

  private TwoStage() {}

  private static void run(Order order) throws Exception {
    Together.run(order, Order::setPrice, Order::setPrice, Order::read);
  }

  private static class Order {
    final Object priceLock = new Object();
    final Object taxLock = new Object();
    int price;
    int tax;

    void setPrice() {
      synchronized (priceLock) {
        price = 100;
      }
      synchronized (taxLock) {
        tax = price / 5;
      }
    }

    void read() {
      int seen;
      synchronized (priceLock) {
        seen = price;
      }
      synchronized (taxLock) {
        Check.equal(seen / 5, tax, "tax");
      }
    }
  }

  private static final class FixedOrder extends Order {
    @Override
    void setPrice() {
      synchronized (priceLock) {
        super.setPrice();
      }
    }

    @Override
    void read() {
      synchronized (priceLock) {
        super.read();
      }
    }
  }
}
