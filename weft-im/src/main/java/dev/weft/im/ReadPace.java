package dev.weft.im;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How fast each user may read long answers, on all its connections together: a leaky bucket of
 * bytes. A client that asks for history again and again, and perhaps reads none of it, would
 * otherwise keep the database and the processor from the others. What a person reads never waits.
 */
final class ReadPace {
  /** So much of what has been read lately costs no wait. */
  private static final long FREE = 8L << 20;

  private static final long PER_SECOND = 4L << 20;

  /** What an answer costs beside its characters: the query. */
  private static final long PER_ANSWER = 32L << 10;

  /** What a user has read lately, in bytes, as of a time. */
  private record Debt(double bytes, long at) {}

  private final LongSupplier nanoTime;

  @GuardedBy("this")
  private final Map<String, Debt> debts = new GrowingPauses.Recent<>();

  ReadPace(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Returns how long the next answer to a user has to wait; zero if it may be computed now. */
  synchronized Duration pause(String user) {
    double seconds = (left(user) - FREE) / PER_SECOND;
    return seconds <= 0 ? Duration.ZERO : Duration.ofNanos((long) (seconds * 1e9));
  }

  /** Counts an answer of so many characters. */
  synchronized void took(String user, long characters) {
    debts.put(user, new Debt(left(user) + characters + PER_ANSWER, nanoTime.getAsLong()));
  }

  @GuardedBy("this")
  private double left(String user) {
    Debt debt = debts.get(user);
    if (debt == null) {
      return 0;
    }
    double seconds = (nanoTime.getAsLong() - debt.at()) / 1e9;
    return Math.max(0, debt.bytes() - seconds * PER_SECOND);
  }
}
