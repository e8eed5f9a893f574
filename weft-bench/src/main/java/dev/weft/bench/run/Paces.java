package dev.weft.bench.run;

import dev.weft.bench.model.Trial.Pace;
import java.time.Duration;

/** How long trials take: long enough to be steady, or so short that all fit into a minute. */
public final class Paces {
  /** The total time of a quick comparison, with a reserve to the minute that is promised. */
  private static final Duration QUICK_TOTAL = Duration.ofSeconds(50);

  /** The time of a trial besides warm-up and measurement: mostly JMH's two JVM starts. */
  private static final Duration OVERHEAD = Duration.ofMillis(900);

  private static final Duration SHORTEST = Duration.ofMillis(300);

  private Paces() {}

  /** Returns the pace for numbers to publish. */
  public static Pace thorough() {
    return new Pace(false, Duration.ofMillis(3_000), Duration.ofMillis(2_500));
  }

  /** Returns the pace at which this many trials take less than a minute. */
  public static Pace quick(int trials) {
    Duration each = QUICK_TOTAL.dividedBy(trials).minus(OVERHEAD);
    Duration longest = thorough().warmUp().plus(thorough().measurement()).dividedBy(2);
    if (each.compareTo(longest) > 0) {
      each = longest;
    }
    if (each.compareTo(SHORTEST) < 0) {
      each = SHORTEST;
    }
    Duration warmUp = each.multipliedBy(2).dividedBy(5);
    return new Pace(true, warmUp, each.minus(warmUp));
  }
}
