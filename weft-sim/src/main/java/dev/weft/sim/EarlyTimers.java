package dev.weft.sim;

import java.util.SplittableRandom;

/**
 * The option that lets time pass although fibers could go on, as on a machine that is slow just
 * then: a timeout races the computation that it waits for. When it does so comes from the seed of
 * the run, so a schedule repeats it.
 */
final class EarlyTimers {
  /** How rarely, by seed: at one point or slice in so many. */
  private static final int[] ONE_IN = {4, 16, 64};

  private boolean enabled;
  private SplittableRandom random = new SplittableRandom(0);
  private int oneIn;

  void enable(boolean newEnabled) {
    enabled = newEnabled;
  }

  boolean isEnabled() {
    return enabled;
  }

  /** Begins a run; that of seed 0 is the plain one, in which time does not pass early. */
  void begin(long seed) {
    random = new SplittableRandom(seed ^ 0xD1B54A32D192ED03L);
    oneIn = seed == 0 ? 0 : ONE_IN[random.nextInt(ONE_IN.length)];
  }

  /** Returns whether time is to pass now, up to the next timer. */
  boolean fire() {
    return enabled && oneIn > 0 && random.nextInt(oneIn) == 0;
  }
}
