package dev.weft.im;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Decides when a client may try a password, or make an account. Wrong passwords are counted by
 * place and by name, accounts by place; after some of them each further one makes the next try wait
 * longer: see {@link GrowingPauses}.
 *
 * <p>A user that has logged in from a place before is counted for itself there: wrong passwords of
 * others, at the same place or for the same name, do not keep it out.
 */
final class LoginGuard {
  /** So many wrong passwords cost nothing: people mistype. */
  static final int FREE = 10;

  /** So many accounts a place may make before it waits: a company that begins shares an address. */
  static final int FREE_ACCOUNTS = 30;

  // a key is "place", "@name" or "place @name"
  private final GrowingPauses wrong;

  // a key is a place
  private final GrowingPauses accounts;

  @GuardedBy("this")
  private final Map<String, Boolean> known = new GrowingPauses.Recent<>();

  LoginGuard(LongSupplier nanoTime) {
    this.wrong = new GrowingPauses(FREE, nanoTime);
    this.accounts = new GrowingPauses(FREE_ACCOUNTS, nanoTime);
  }

  /** Returns how long a try has to wait; zero if it may be made now. */
  Duration pauseBefore(String place, String name) {
    Duration longest = Duration.ZERO;
    for (String key : keys(place, name)) {
      Duration left = wrong.left(key);
      longest = left.compareTo(longest) > 0 ? left : longest;
    }
    return longest;
  }

  void failed(String place, String name) {
    keys(place, name).forEach(wrong::count);
  }

  void succeeded(String place, String name) {
    synchronized (this) {
      known.put(pair(place, name), true);
    }
    wrong.forget(pair(place, name));
  }

  /** Counts an account that is to be made, or returns how long that has to wait. */
  Duration tryAccount(String place) {
    return accounts.tryCount(place);
  }

  private synchronized List<String> keys(String place, String name) {
    String pair = pair(place, name);
    return known.containsKey(pair) ? List.of(pair) : List.of(place, "@" + name);
  }

  private static String pair(String place, String name) {
    return place + " @" + name;
  }
}
