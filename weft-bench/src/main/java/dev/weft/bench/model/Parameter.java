package dev.weft.bench.model;

import java.util.List;

/** What a comparison varies, such as the stack depth, and the values it takes. */
public record Parameter(String name, List<String> values) {
  /** The parameter of a comparison that varies nothing. */
  public static final Parameter NONE = new Parameter("", List.of(""));

  public Parameter {
    values = List.copyOf(values);
  }

  /** Returns the value with its name, such as {@code depth 5}; empty if nothing varies. */
  public String label(String value) {
    return (name + " " + value).strip();
  }
}
