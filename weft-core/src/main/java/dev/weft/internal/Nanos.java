package dev.weft.internal;

import java.time.Duration;

/** Durations in nanoseconds. */
public final class Nanos {
  /** A bit over 146 years, as good as for ever: added to a clock's time it does not overflow. */
  public static final long FOREVER = Long.MAX_VALUE / 2;

  private Nanos() {}

  /** Returns the nanoseconds: 0 for negative durations, {@link #FOREVER} for those beyond it. */
  public static long of(Duration duration) {
    long seconds = duration.toSeconds();
    if (seconds < 0) {
      return 0;
    }
    return seconds < FOREVER / 1_000_000_000L
        ? seconds * 1_000_000_000L + duration.toNanosPart()
        : FOREVER;
  }
}
