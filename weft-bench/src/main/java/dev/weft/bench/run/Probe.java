package dev.weft.bench.run;

import java.util.Map;

/**
 * A measurement that JMH does not offer: memory, CPU time, latency percentiles. It has a JVM of its
 * own and may start server processes. A class that implements this is public and has a public
 * constructor without parameters.
 */
@FunctionalInterface
public interface Probe {
  /**
   * Measures and returns a number for each metric name of the comparison.
   *
   * @param parameter the value of the comparison's parameter
   * @param quick whether rougher numbers will do
   */
  Map<String, Double> measure(String parameter, boolean quick) throws Exception;

  /** This machine does not allow the measurement; the message says what is missing. */
  final class Impossible extends Exception {
    private static final long serialVersionUID = 1L;

    /** Creates one with a few words, which stand in the table. */
    public Impossible(String message) {
      super(message);
    }
  }
}
