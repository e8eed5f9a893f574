package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * Three writers set two fields that belong together, without a lock; a reader sees half of a write.
 *
 * <p>After SCTBench concurrent-software-benchmarks/reorder_3_bad.
 */
final class Reorder {
  static final KnownBug BUG =
      KnownBug.of(
          Reorder.class,
          "SCTBench concurrent-software-benchmarks/reorder_3_bad",
          Kind.ATOMICITY,
          () -> run(new Pair()),
          () -> run(new FixedPair()));

  private Reorder() {}

  private static void run(Pair pair) throws Exception {
    Together.run(pair, Pair::set, Pair::set, Pair::set, Pair::check);
  }

  private static class Pair {
    private int debit;
    private int credit;

    void set() {
      debit = 1;
      credit = -1;
    }

    void check() {
      Check.equal(0, debit + credit, "sum of debit and credit");
    }
  }

  private static final class FixedPair extends Pair {
    @Override
    synchronized void set() {
      super.set();
    }

    @Override
    synchronized void check() {
      super.check();
    }
  }
}
