package dev.weft.bench.run;

import java.util.Map;

/**
 * A {@link Probe} that measures in many short windows, between which its peers have theirs. A class
 * that implements this is public and has a public constructor without parameters.
 */
@FunctionalInterface
public interface WindowProbe {
  /**
   * Gets ready, warms up, and returns the object that measures windows.
   *
   * @param parameter the value of the comparison's parameter
   * @param quick whether rougher numbers will do
   * @throws Probe.Impossible if this machine does not allow the measurement
   */
  Windows prepare(String parameter, boolean quick) throws Exception;

  /** A contestant that is ready to be measured. */
  @FunctionalInterface
  interface Windows {
    /** Measures for a fraction of a second, or a few, and returns a number for each metric name. */
    Map<String, Double> next() throws Exception;
  }
}
