package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * Each of three philosophers takes the left fork and waits for the right one.
 *
 * <p>After SCTBench concurrent-software-benchmarks/din_phil3_sat.
 */
final class DiningPhilosophers {
  static final KnownBug BUG =
      KnownBug.of(
          DiningPhilosophers.class,
          "SCTBench concurrent-software-benchmarks/din_phil3_sat",
          Kind.DEADLOCK,
          () -> run(new Table()),
          () -> run(new FixedTable()));

  private DiningPhilosophers() {}

  private static void run(Table table) throws Exception {
    Together.run(table, t -> t.dine(0), t -> t.dine(1), t -> t.dine(2));
    Check.equal(3, table.meals[0] + table.meals[1] + table.meals[2], "meals");
  }

  private static class Table {
    private final Object[] forks = {new Object(), new Object(), new Object()};
    final int[] meals = new int[3];

    void dine(int seat) {
      eat(seat, seat, (seat + 1) % forks.length);
    }

    void eat(int seat, int firstFork, int secondFork) {
      synchronized (forks[firstFork]) {
        synchronized (forks[secondFork]) {
          meals[seat] = meals[seat] + 1;
        }
      }
    }
  }

  private static final class FixedTable extends Table {
    @Override
    void dine(int seat) {
      int other = (seat + 1) % 3;
      eat(seat, Math.min(seat, other), Math.max(seat, other));
    }
  }
}
