package dev.weft.bench.model;

import java.util.Locale;

/**
 * A limit that Weft, the first contestant, has to keep at every parameter value.
 *
 * @param peer the contestant in the row that shows the bar; Weft itself for {@link Kind#WITHIN} and
 *     {@link Kind#COMPLETES} and {@link Kind#NONE}
 */
public record Bar(Kind kind, Metric metric, double limit, String peer) {
  /** What is limited. */
  public enum Kind {
    /** The median ratio Weft ÷ peer is at most the limit. */
    AT_MOST,
    /** The median ratio Weft ÷ peer is at least the limit. */
    AT_LEAST,
    /** Weft's own number is at most the limit in every round. */
    WITHIN,
    /** Weft's own number is 0 in every reading; the limit does not matter. */
    NONE,
    /** Weft ends every round with a result; the limit does not matter. */
    COMPLETES
  }

  /** Weft ÷ peer must be at most the limit. */
  public static Bar atMost(Metric metric, double limit, String peer) {
    return new Bar(Kind.AT_MOST, metric, limit, peer);
  }

  /** Weft ÷ peer must be at least the limit. */
  public static Bar atLeast(Metric metric, double limit, String peer) {
    return new Bar(Kind.AT_LEAST, metric, limit, peer);
  }

  /** The number of the contestant, Weft, must be at most the limit in every round. */
  public static Bar within(Metric metric, double limit, String weft) {
    return new Bar(Kind.WITHIN, metric, limit, weft);
  }

  /** The number of the contestant, Weft, must be 0 in every reading. */
  public static Bar none(Metric metric, String weft) {
    return new Bar(Kind.NONE, metric, 0, weft);
  }

  /** The contestant, Weft, must give a result in every round. */
  public static Bar completes(Metric metric, String weft) {
    return new Bar(Kind.COMPLETES, metric, 0, weft);
  }

  /** Says whether a ratio Weft ÷ peer, or Weft's own number, keeps this bar. */
  public boolean allows(double number) {
    return switch (kind) {
      case AT_MOST, WITHIN, NONE -> number <= limit;
      case AT_LEAST -> number >= limit;
      case COMPLETES -> true;
    };
  }

  /** Describes it in short, such as {@code ≤ 1.15 ×}. */
  public String label() {
    return switch (kind) {
      case AT_MOST -> String.format(Locale.ROOT, "≤ %.2f ×", limit);
      case AT_LEAST -> String.format(Locale.ROOT, "≥ %.2f ×", limit);
      case WITHIN -> String.format(Locale.ROOT, "≤ %.0f %s", limit, metric.unit());
      case NONE -> "none";
      case COMPLETES -> "completes";
    };
  }
}
