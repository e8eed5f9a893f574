package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * A transfer withdraws and deposits in two critical sections; an audit between them misses money.
 *
 * <p>After SCTBench concurrent-software-benchmarks/account_bad.
 */
final class AccountTransfer {
  static final KnownBug BUG =
      KnownBug.of(
          AccountTransfer.class,
          "SCTBench concurrent-software-benchmarks/account_bad",
          Kind.ATOMICITY,
          () -> run(new Bank()),
          () -> run(new FixedBank()));

  private AccountTransfer() {}

  private static void run(Bank bank) throws Exception {
    Together.run(bank, b -> b.transfer(30), b -> Check.equal(200, b.audit(), "money in the bank"));
  }

  private static class Bank {
    private int first = 100;
    private int second = 100;

    void transfer(int amount) {
      withdraw(amount);
      deposit(amount);
    }

    private synchronized void withdraw(int amount) {
      first = first - amount;
    }

    private synchronized void deposit(int amount) {
      second = second + amount;
    }

    synchronized int audit() {
      return first + second;
    }
  }

  private static final class FixedBank extends Bank {
    @Override
    synchronized void transfer(int amount) {
      super.transfer(amount);
    }
  }
}
