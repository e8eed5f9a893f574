package dev.weft.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The share of the time that looks may take, on a clock of the test. */
@Feature("O3")
class BudgetTest {
  private static final long SECOND = 1_000_000_000;
  private static final long SAVED = SECOND / 2;

  private final AtomicLong clock = new AtomicLong(-123_456_789);

  private Budget budget(int perThousand) {
    return new Budget(clock::get, perThousand, SAVED, 10_000 * SECOND);
  }

  /** Looks as often as it may; returns how long that took in all. */
  private long lookFor(long nanos, Budget budget, long[] lengths, Random random) {
    long end = clock.get() + nanos;
    long spent = 0;
    while (clock.get() < end) {
      long wait = budget.nanosUntilFree();
      if (wait > 0) {
        clock.addAndGet(wait);
      } else {
        long look = lengths[random.nextInt(lengths.length)];
        clock.addAndGet(look);
        budget.spend(look);
        spent += look;
      }
    }
    return spent;
  }

  @Test
  void looksOfAnyLengthTakeTheirShareAndUseIt() {
    long[][] lengths = {
      {1_000}, {50_000}, {5_000_000}, {300_000_000}, {4 * SECOND}, {700, 20_000_000, 2 * SECOND}
    };
    for (long[] each : lengths) {
      long longest = each[each.length - 1];
      long period = 10_000 * SECOND;
      if (longest < 100_000) {
        period = 10 * SECOND; // else it would be a million looks
      }
      long spent = lookFor(period, budget(16), each, new Random(1));
      assertThat(spent).isLessThanOrEqualTo(period * 16 / 1_000 + SAVED + longest + 1_000_000);
      assertThat(spent).isGreaterThan(period * 16 / 1_000 * 9 / 10);
    }
  }

  @Test
  void aQuietTimeSavesNoMoreThanTheLimit() {
    Budget budget = budget(16);
    lookFor(SECOND, budget, new long[] {10_000_000}, new Random(1));
    clock.addAndGet(100_000 * SECOND);
    long spent = lookFor(SECOND, budget, new long[] {10_000_000}, new Random(1));
    assertThat(spent).isBetween(SAVED, SAVED + 40_000_000);
  }

  @Test
  void noLookMakesTheNextOneWaitForLongerThanTheLimit() {
    Budget budget = new Budget(clock::get, 16, SAVED, 20 * SECOND);
    budget.spend(100 * SECOND);
    assertThat(budget.nanosUntilFree()).isBetween(19 * SECOND, 20 * SECOND + 1_000_000);
  }

  @Test
  void oftenAskingLosesNoTime() {
    Budget budget = budget(16);
    budget.spend(SAVED + SECOND);
    long waited = 0;
    while (budget.nanosUntilFree() > 0) {
      clock.addAndGet(777_777);
      waited += 777_777;
    }
    assertThat(waited).isBetween(SECOND / 16 * 1_000, SECOND / 16 * 1_000 + 2_000_000);
  }
}
