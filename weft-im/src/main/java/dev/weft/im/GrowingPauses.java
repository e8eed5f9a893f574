package dev.weft.im;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Counts what clients do that costs much, by keys such as a place. Some of it is free; after that
 * each further time makes the next one wait twice as long, up to a minute. Half of what was counted
 * is forgotten every minute.
 */
final class GrowingPauses {
  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofMinutes(1);
  private static final int MOST_DOUBLINGS = 10;
  private static final Duration HALF_LIFE = Duration.ofMinutes(1);
  private static final int MOST_ENTRIES = 20_000;

  private static final class Count {
    private double times;
    private long changed;
    private long closedUntil;
  }

  /** A map that forgets what was used least recently. */
  static final class Recent<V> extends LinkedHashMap<String, V> {
    private static final long serialVersionUID = 1;

    Recent() {
      super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
      return size() > MOST_ENTRIES;
    }
  }

  private final int free;
  private final LongSupplier nanoTime;

  @GuardedBy("this")
  private final Map<String, Count> counts = new Recent<>();

  /**
   * Creates them.
   *
   * @param free how often costs nothing
   */
  GrowingPauses(int free, LongSupplier nanoTime) {
    this.free = free;
    this.nanoTime = nanoTime;
  }

  /** Returns how long the next time has to wait; zero if it may be now. */
  synchronized Duration left(String key) {
    Count count = counts.get(key);
    return count == null
        ? Duration.ZERO
        : Duration.ofNanos(Math.max(0, count.closedUntil - nanoTime.getAsLong()));
  }

  synchronized void count(String key) {
    long now = nanoTime.getAsLong();
    Count count = counts.get(key);
    if (count == null) {
      count = new Count();
      count.changed = now;
      count.closedUntil = now;
      counts.put(key, count);
    }
    double halfLives = (double) (now - count.changed) / (double) HALF_LIFE.toNanos();
    count.times = count.times * Math.pow(0.5, halfLives) + 1;
    count.changed = now;
    int paid = (int) Math.ceil(count.times) - free;
    if (paid > 0) {
      int doublings = Math.min(paid - 1, MOST_DOUBLINGS);
      count.closedUntil = now + Math.min(LONGEST.toNanos(), FIRST.toNanos() << doublings);
    }
  }

  /** Counts one time more if it may be now, else returns how long it has to wait. */
  synchronized Duration tryCount(String key) {
    Duration left = left(key);
    if (left.isZero()) {
      count(key);
    }
    return left;
  }

  synchronized void forget(String key) {
    counts.remove(key);
  }
}
