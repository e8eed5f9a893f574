package dev.weft.bench.model;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** A quantity that a comparison varies, such as the stack depth, and its values. */
public record Parameter(String name, List<String> values) {
  /** The parameter of a comparison that varies nothing. */
  public static final Parameter NONE = new Parameter("", List.of(""));

  private static final Pattern DIGITS = Pattern.compile("[0-9]{1,18}");

  public Parameter {
    values = List.copyOf(values);
  }

  /** Returns the value with its name, such as {@code depth 5}; empty if nothing varies. */
  public String label(String value) {
    return (name + " " + shown(value)).strip();
  }

  /** Returns the value as people read it: {@code 1,000,000}. */
  public static String shown(String value) {
    return DIGITS.matcher(value).matches()
        ? String.format(Locale.ROOT, "%,d", Long.valueOf(value))
        : value;
  }
}
