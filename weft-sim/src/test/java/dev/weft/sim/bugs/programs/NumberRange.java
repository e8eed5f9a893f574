package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The bounds of a range are two atomic numbers; each is checked against the other before it is set.
 *
 * <p>After Java Concurrency in Practice, listing 4.10 (NumberRange).
 */
final class NumberRange {
  static final KnownBug BUG =
      KnownBug.of(
          NumberRange.class,
          "Java Concurrency in Practice, listing 4.10 (NumberRange)",
          Kind.ATOMICITY,
          () -> run(new Range()),
          () -> run(new FixedRange()));

  private NumberRange() {}

  private static void run(Range range) throws Exception {
    Together.run(range, r -> r.raiseLower(5), r -> r.reduceUpper(4));
    Check.that(range.lower.get() <= range.upper.get(), "the lower bound is above the upper one");
  }

  private static class Range {
    final AtomicInteger lower = new AtomicInteger(0);
    final AtomicInteger upper = new AtomicInteger(10);

    void raiseLower(int bound) {
      if (bound <= upper.get()) {
        lower.set(bound);
      }
    }

    void reduceUpper(int bound) {
      if (bound >= lower.get()) {
        upper.set(bound);
      }
    }
  }

  private static final class FixedRange extends Range {
    @Override
    synchronized void raiseLower(int bound) {
      super.raiseLower(bound);
    }

    @Override
    synchronized void reduceUpper(int bound) {
      super.reduceUpper(bound);
    }
  }
}
