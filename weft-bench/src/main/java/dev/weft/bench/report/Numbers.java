package dev.weft.bench.report;

import java.util.Locale;

/** Writes numbers for people: three digits that matter, no more. */
final class Numbers {
  private Numbers() {}

  static String text(double number) {
    double size = Math.abs(number);
    String format =
        size >= 99.95 ? "%,.0f" : size >= 9.995 ? "%.1f" : size >= 0.0995 ? "%.2f" : "%.3f";
    return String.format(Locale.ROOT, format, number);
  }

  /** Returns a number of an axis: no digits that are zero anyway. */
  static String tick(double number) {
    return number == Math.rint(number)
        ? String.format(Locale.ROOT, "%,.0f", number)
        : String.format(Locale.ROOT, "%.2g", number);
  }

  /** Returns the ends, such as {@code 138–149}. */
  static String range(Spread spread) {
    return text(spread.min()) + "–" + text(spread.max());
  }

  /** Returns the middle and the ends, such as {@code 1.08 [1.05–1.10]}. */
  static String full(Spread spread) {
    return text(spread.median()) + " [" + range(spread) + "]";
  }
}
