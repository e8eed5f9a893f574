package dev.weft.stress;

import java.io.PrintStream;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a run: prints it every ten seconds, and knows for how long it has not changed.
 */
public final class Progress {
  private static final long EVERY_NANOS = 10_000_000_000L;

  private final @Nullable PrintStream out;
  private final long amount;
  private final String unit;
  private final AtomicLong printed = new AtomicLong(System.nanoTime());
  private volatile long moved = System.nanoTime();

  private Progress(@Nullable PrintStream out, long amount, String unit) {
    this.out = out;
    this.amount = amount;
    this.unit = unit;
  }

  /** Returns a progress that prints nothing. */
  public static Progress silent() {
    return new Progress(null, 0, "");
  }

  static Progress to(PrintStream out, long amount, String unit) {
    return new Progress(out, amount, unit);
  }

  /** Records that this part of the amount is done; called by any thread. */
  void at(long done) {
    long now = System.nanoTime();
    moved = now;
    long last = printed.get();
    if (out != null && now - last > EVERY_NANOS && printed.compareAndSet(last, now)) {
      out.printf("%,14d of %,d %s%n", done, amount, unit);
    }
  }

  /** Records that a named part is done, and prints its name. */
  void said(String line) {
    moved = System.nanoTime();
    if (out != null) {
      out.println(line);
    }
  }

  long stillForNanos() {
    return System.nanoTime() - moved;
  }
}
