package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A payment and its retry meet: both find that the payment has not been booked.
 *
 * <p>After the classic retry without an idempotent key.
 */
final class DoublePayment {
  static final KnownBug BUG =
      KnownBug.of(
          DoublePayment.class,
          "the classic retry without an idempotent key",
          Kind.ATOMICITY,
          () -> run(new Ledger()),
          () -> run(new FixedLedger()));

  private DoublePayment() {}

  private static void run(Ledger ledger) throws Exception {
    Together.run(ledger, l -> l.pay("order 1", 10), l -> l.pay("order 1", 10));
    Check.equal(10L, ledger.total.get(), "money paid");
  }

  private static class Ledger {
    final Set<String> paid = ConcurrentHashMap.newKeySet();
    final AtomicLong total = new AtomicLong();

    void pay(String order, long amount) {
      if (!paid.contains(order)) {
        total.addAndGet(amount);
        paid.add(order);
      }
    }
  }

  private static final class FixedLedger extends Ledger {
    @Override
    void pay(String order, long amount) {
      if (paid.add(order)) {
        total.addAndGet(amount);
      }
    }
  }
}
