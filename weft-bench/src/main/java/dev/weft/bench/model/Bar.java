package dev.weft.bench.model;

import java.util.Locale;

/**
 * A limit that Weft, the first contestant, has to keep at every parameter value. {@code peer} is
 * the contestant whose row shows it: for {@link Kind#COMPLETES} that is Weft itself.
 */
public record Bar(Kind kind, Metric metric, double limit, String peer) {
  /** What is limited. */
  public enum Kind {
    /** The median ratio Weft ÷ peer is at most the limit. */
    AT_MOST,
    /** The median ratio Weft ÷ peer is at least the limit. */
    AT_LEAST,
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

  /** The contestant, Weft, must give a result in every round. */
  public static Bar completes(Metric metric, String weft) {
    return new Bar(Kind.COMPLETES, metric, 0, weft);
  }

  /** Says whether a ratio Weft ÷ peer keeps this bar. */
  public boolean allows(double ratio) {
    return switch (kind) {
      case AT_MOST -> ratio <= limit;
      case AT_LEAST -> ratio >= limit;
      case COMPLETES -> true;
    };
  }

  /** Describes it in short, such as {@code ≤ 1.15 ×}. */
  public String label() {
    return switch (kind) {
      case AT_MOST -> String.format(Locale.ROOT, "≤ %.2f ×", limit);
      case AT_LEAST -> String.format(Locale.ROOT, "≥ %.2f ×", limit);
      case COMPLETES -> "completes";
    };
  }
}
