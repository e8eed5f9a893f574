package dev.weft.bench.model;

/** A quantity that each contestant is measured by. */
public record Metric(String name, String unit, Better better) {
  /** Whether less or more is good. */
  public enum Better {
    /** As for time and memory. */
    LESS,
    /** As for throughput. */
    MORE
  }

  /** The metric of every {@code JmhMethod}. */
  public static final Metric TIME = new Metric("time", "ns", Better.LESS);

  /** Describes the unit for a heading, such as {@code ns, less is better}. */
  public String describe() {
    return unit + ", " + (better == Better.LESS ? "less" : "more") + " is better";
  }
}
