package dev.weft.console;

import java.util.function.LongSupplier;

/**
 * The time that looks of one kind may take: a share of the time that passes. Time that was not used
 * is saved, up to a limit, so that a few looks may follow each other at once. A look may begin
 * while there is time left; if it takes more, the next one begins when that has been made up for.
 * So over any period the looks take at most the share of the period, the saved time, and one look.
 *
 * <p>Time is that of the clock, not of the CPU: on a busy machine looks become rarer. But no look
 * makes the next one wait for longer than a limit: looks that would need longer rests than that
 * take more than their share.
 */
final class Budget {
  private final LongSupplier clock;
  private final long perThousand;
  private final long mostSaved;
  private final long mostWait;

  private long left; // negative: taken in advance; guarded by this
  private long at; // when left was computed; guarded by this

  /** Creates one that has all its saved time. */
  Budget(LongSupplier clock, int perThousand, long mostSavedNanos, long mostWaitNanos) {
    this.clock = clock;
    this.perThousand = perThousand;
    this.mostSaved = mostSavedNanos;
    this.mostWait = mostWaitNanos;
    this.left = mostSavedNanos;
    this.at = clock.getAsLong();
  }

  /** Notes that a look has taken so long. */
  synchronized void spend(long nanos) {
    left = Math.max(leftNow() - nanos, -(mostWait / 1_000 * perThousand));
  }

  /** Returns in how many nanoseconds a look may begin; 0 if it may now. */
  synchronized long nanosUntilFree() {
    left = leftNow();
    return left > 0 ? 0 : -left * 1_000 / perThousand + 1_000;
  }

  private long leftNow() {
    long now = clock.getAsLong();
    // in microseconds, so that no time is lost by rounding and no product overflows
    long earned = (now - at) / 1_000 * perThousand;
    at += (now - at) / 1_000 * 1_000;
    return Math.min(mostSaved, left + earned);
  }
}
