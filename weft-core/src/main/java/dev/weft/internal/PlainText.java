package dev.weft.internal;

import java.time.Duration;
import java.util.Locale;

/** Parts of the texts that people read: numbers, times, names. */
public final class PlainText {
  private static final long MOST_MILLIS = 10_000;
  private static final int MOST_SHOWN = 200;

  private PlainText() {}

  /** Returns the number with commas between thousands. */
  public static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** Returns the time in milliseconds, or in seconds from ten on. */
  public static String time(Duration duration) {
    long millis = Nanos.of(duration) / 1_000_000;
    return millis < MOST_MILLIS
        ? number(millis) + " ms"
        : String.format(Locale.ROOT, "%,.1f s", millis / 1e3);
  }

  /** Returns the text, cut at 200 characters: for a screen that is filled again and again. */
  public static String shortened(String text) {
    return text.length() <= MOST_SHOWN ? text : text.substring(0, MOST_SHOWN - 1) + "…";
  }

  /**
   * Returns the text with spaces in place of control characters. A name or a toString() can have
   * any: a line break would forge a line of a dump, an escape sequence would command the terminal.
   */
  public static String oneLine(String text) {
    if (text.chars().noneMatch(Character::isISOControl)) {
      return text;
    }
    StringBuilder clean = new StringBuilder(text.length());
    text.codePoints().forEach(c -> clean.appendCodePoint(Character.isISOControl(c) ? ' ' : c));
    return clean.toString();
  }
}
