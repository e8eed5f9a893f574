package dev.weft.internal.net;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Time limits of sockets: zero is none. */
public final class Limits {
  private Limits() {}

  /** Returns null for none. */
  public static @Nullable Duration of(Duration limit) {
    if (limit.isNegative()) {
      throw new IllegalArgumentException("a timeout must be zero (none) or more, not " + limit);
    }
    return limit.isZero() ? null : limit;
  }
}
