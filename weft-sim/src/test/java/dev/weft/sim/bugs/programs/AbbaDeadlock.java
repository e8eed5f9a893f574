package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Two threads take two locks in opposite order.
 *
 * <p>After SCTBench concurrent-software-benchmarks/deadlock01_bad.
 */
final class AbbaDeadlock {
  static final KnownBug BUG =
      KnownBug.of(
          AbbaDeadlock.class,
          "SCTBench concurrent-software-benchmarks/deadlock01_bad",
          Kind.DEADLOCK,
          () -> run(new Ledgers()),
          () -> run(new FixedLedgers()));

  private AbbaDeadlock() {}

  private static void run(Ledgers ledgers) throws Exception {
    Together.run(ledgers, Ledgers::debit, Ledgers::credit);
  }

  private static class Ledgers {
    final ReentrantLock first = new ReentrantLock();
    final ReentrantLock second = new ReentrantLock();
    private int balance;

    void debit() {
      add(first, second, -1);
    }

    void credit() {
      add(second, first, 1);
    }

    void add(ReentrantLock outer, ReentrantLock inner, int amount) {
      outer.lock();
      try {
        inner.lock();
        try {
          balance = balance + amount;
        } finally {
          inner.unlock();
        }
      } finally {
        outer.unlock();
      }
    }
  }

  private static final class FixedLedgers extends Ledgers {
    @Override
    void credit() {
      add(first, second, 1);
    }
  }
}
