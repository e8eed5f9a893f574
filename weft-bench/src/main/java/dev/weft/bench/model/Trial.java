package dev.weft.bench.model;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;

/**
 * One measurement to make.
 *
 * @param parameter the comparison's parameter
 * @param value the value it has in this trial
 * @param pace how long to measure
 * @param jvmFlags the flags that every JVM with Weft in it needs
 * @param log takes whatever the measured JVM prints
 */
public record Trial(
    Parameter parameter, String value, Pace pace, List<String> jvmFlags, PrintStream log) {
  /**
   * How long a trial warms up and measures.
   *
   * @param quick whether somebody waits at the screen and rougher numbers will do
   */
  public record Pace(boolean quick, Duration warmUp, Duration measurement) {}
}
