package dev.weft.internal;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Which families of the hook are on: at first those that {@code -Dweft.hook} names, all if it is
 * not set; then as {@link dev.weft.Hook#set} sets them.
 */
public final class HookFamilies {
  /** Whether the hook is installed: not with {@code -Dweft.hook=off}. */
  public static final boolean WANTED;

  /** {@code Thread.sleep}, timed parks and waits. */
  public static volatile boolean timers;

  /** Blocking calls of sockets and channels. */
  public static volatile boolean sockets;

  /** Name look-up. */
  public static volatile boolean names;

  private static final String PROPERTY = System.getProperty("weft.hook", "timers,sockets,names");
  private static final boolean UNDERSTOOD;

  static {
    List<String> words =
        Arrays.stream(PROPERTY.toLowerCase(Locale.ROOT).split(",", -1)).map(String::strip).toList();
    boolean off = words.equals(List.of("off"));
    UNDERSTOOD = off || List.of("timers", "sockets", "names").containsAll(words);
    WANTED = UNDERSTOOD && !off;
    timers = WANTED && words.contains("timers");
    sockets = WANTED && words.contains("sockets");
    names = WANTED && words.contains("names");
  }

  private HookFamilies() {}

  /**
   * Checks the property.
   *
   * @throws IllegalArgumentException if it names something else than off or the families
   */
  public static void check() {
    if (!UNDERSTOOD) {
      throw new IllegalArgumentException(
          "-Dweft.hook must be off or some of timers,sockets,names, not '" + PROPERTY + "'");
    }
  }
}
