package dev.weft.im;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Decides when a client may try a password. Wrong passwords are counted by place and by name; after
 * some of them each further one makes the next try wait twice as long.
 *
 * <p>A user that has logged in from a place before is counted for itself there: wrong passwords of
 * others, at the same place or for the same name, do not keep it out.
 */
final class LoginGuard {
  /** So many wrong passwords cost nothing: people mistype. */
  static final int FREE = 10;

  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofMinutes(1);
  private static final int MOST_DOUBLINGS = 10;

  /** After so long half of what was counted is forgotten. */
  private static final Duration HALF_LIFE = Duration.ofMinutes(1);

  private static final int MOST_ENTRIES = 20_000;

  private static final class Count {
    private double wrong;
    private long changed;
    private long closedUntil;
  }

  /** A map that forgets what was used least recently. */
  private static final class Recent<V> extends LinkedHashMap<String, V> {
    private static final long serialVersionUID = 1;

    Recent() {
      super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
      return size() > MOST_ENTRIES;
    }
  }

  private final LongSupplier nanoTime;

  // a key is "place", "@name" or "place @name"
  @GuardedBy("this")
  private final Map<String, Count> counts = new Recent<>();

  @GuardedBy("this")
  private final Map<String, Boolean> known = new Recent<>();

  LoginGuard(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Returns how long a try has to wait; zero if it may be made now. */
  synchronized Duration pauseBefore(String place, String name) {
    long now = nanoTime.getAsLong();
    long longest = 0;
    for (String key : keys(place, name)) {
      Count count = counts.get(key);
      if (count != null) {
        longest = Math.max(longest, count.closedUntil - now);
      }
    }
    return Duration.ofNanos(longest);
  }

  synchronized void failed(String place, String name) {
    long now = nanoTime.getAsLong();
    for (String key : keys(place, name)) {
      Count count = counts.get(key);
      if (count == null) {
        count = new Count();
        count.changed = now;
        count.closedUntil = now;
        counts.put(key, count);
      }
      double halfLives = (double) (now - count.changed) / (double) HALF_LIFE.toNanos();
      count.wrong = count.wrong * Math.pow(0.5, halfLives) + 1;
      count.changed = now;
      int paid = (int) Math.ceil(count.wrong) - FREE;
      if (paid > 0) {
        int doublings = Math.min(paid - 1, MOST_DOUBLINGS);
        count.closedUntil = now + Math.min(LONGEST.toNanos(), FIRST.toNanos() << doublings);
      }
    }
  }

  synchronized void succeeded(String place, String name) {
    known.put(pair(place, name), true);
    counts.remove(pair(place, name));
  }

  @GuardedBy("this")
  private List<String> keys(String place, String name) {
    String pair = pair(place, name);
    return known.containsKey(pair) ? List.of(pair) : List.of(place, "@" + name);
  }

  private static String pair(String place, String name) {
    return place + " @" + name;
  }
}
