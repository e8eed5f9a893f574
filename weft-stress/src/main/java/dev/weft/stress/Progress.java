package dev.weft.stress;

import java.io.PrintStream;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** How far a run is: says so every ten seconds, and knows since when it has not moved. */
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

  /** Returns one that says nothing. */
  public static Progress silent() {
    return new Progress(null, 0, "");
  }

  static Progress to(PrintStream out, long amount, String unit) {
    return new Progress(out, amount, unit);
  }

  /** Takes note that so much of the amount is done; from any thread. */
  void at(long done) {
    long now = System.nanoTime();
    moved = now;
    long last = printed.get();
    if (out != null && now - last > EVERY_NANOS && printed.compareAndSet(last, now)) {
      out.printf("%,14d of %,d %s%n", done, amount, unit);
    }
  }

  /** Takes note of a part that is done, and says which. */
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
