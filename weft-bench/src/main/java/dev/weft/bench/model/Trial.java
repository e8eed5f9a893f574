package dev.weft.bench.model;

import java.io.PrintStream;
import java.time.Duration;

/**
 * One measurement to make.
 *
 * @param parameter the comparison's parameter
 * @param value the parameter's value in this trial
 * @param pace how long to measure
 * @param measured the build of Weft that is measured
 * @param driver the build that everything else in this trial runs with, such as the load on a
 *     measured server
 * @param log takes all that the measured JVM prints
 */
public record Trial(
    Parameter parameter,
    String value,
    Pace pace,
    Library measured,
    Library driver,
    PrintStream log) {
  /** A trial in which everything runs with one build. */
  public Trial(Parameter parameter, String value, Pace pace, Library library, PrintStream log) {
    this(parameter, value, pace, library, library, log);
  }

  /** Returns the same trial for another parameter. */
  public Trial at(Parameter other, String otherValue) {
    return new Trial(other, otherValue, pace, measured, driver, log);
  }

  /** Returns the same trial with another build measured. */
  public Trial of(Library library) {
    return new Trial(parameter, value, pace, library, driver, log);
  }

  /**
   * How long a trial warms up and measures.
   *
   * @param quick whether a person waits for the result and rougher numbers will do
   */
  public record Pace(boolean quick, Duration warmUp, Duration measurement) {}
}
