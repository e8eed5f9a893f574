package dev.weft.internal;

import org.jspecify.annotations.Nullable;

/**
 * Which families of blocking calls are to be hooked.
 *
 * @param timers sleeps and timed waits
 * @param sockets sockets and channels
 * @param names look-up of host names and addresses
 */
public record HookFamilies(boolean timers, boolean sockets, boolean names) {
  /**
   * Returns what {@code -Dweft.hook} asks for.
   *
   * @throws IllegalArgumentException if it cannot be understood
   */
  public static HookFamilies asked() {
    return parse(System.getProperty("weft.hook"));
  }

  /** Understands {@code off}, or a list of families; none given means all. */
  static HookFamilies parse(@Nullable String value) {
    if (value == null) {
      return new HookFamilies(true, true, true);
    }
    if (value.equals("off")) {
      return new HookFamilies(false, false, false);
    }
    boolean timers = false;
    boolean sockets = false;
    boolean names = false;
    for (String word : value.split(",", -1)) {
      switch (word.strip()) {
        case "timers" -> timers = true;
        case "sockets" -> sockets = true;
        case "names" -> names = true;
        default ->
            throw new IllegalArgumentException(
                "-Dweft.hook must be off or some of timers,sockets,names, not '" + value + "'");
      }
    }
    return new HookFamilies(timers, sockets, names);
  }
}
