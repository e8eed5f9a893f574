package dev.weft.bench.model;

import java.util.List;
import java.util.Map;

/** The result of one contestant in one fresh JVM: numbers, or the reason why there are none. */
public sealed interface Outcome {
  /** The readings per metric name, in the order they were taken; at least one each. */
  record Readings(Map<String, List<Double>> byMetric) implements Outcome {
    public Readings {
      byMetric = Map.copyOf(byMetric);
    }
  }

  /**
   * The contestant ended without numbers: out of memory, out of time, crashed. This is a result
   * too.
   *
   * @param absent whether the contestant is not on this machine at all, and nothing went wrong
   */
  record Failure(String reason, boolean absent) implements Outcome {
    /** A contestant that was started and gave no numbers. */
    public Failure(String reason) {
      this(reason, false);
    }
  }
}
