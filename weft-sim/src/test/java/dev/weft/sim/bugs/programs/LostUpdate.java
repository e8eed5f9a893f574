package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * Two clerks add a sale to one counter; the sale of one of them is lost.
 *
 * <p>After the classic lost update.
 */
final class LostUpdate {
  static final KnownBug BUG =
      KnownBug.of(
          LostUpdate.class,
          "the classic lost update",
          Kind.ATOMICITY,
          () -> run(new Sales()),
          () -> run(new FixedSales()));

  private LostUpdate() {}

  private static void run(Sales sales) throws Exception {
    Together.run(sales, Sales::sell, Sales::sell);
    Check.equal(2, sales.sold, "sales");
  }

  private static class Sales {
    int sold;

    void sell() {
      sold = sold + 1;
    }
  }

  private static final class FixedSales extends Sales {
    @Override
    synchronized void sell() {
      super.sell();
    }
  }
}
