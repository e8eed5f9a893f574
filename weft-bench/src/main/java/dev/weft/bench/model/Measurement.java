package dev.weft.bench.model;

import java.util.Optional;

/** A way to measure a contestant once, in a fresh JVM that ends before it returns. */
@FunctionalInterface
public interface Measurement {
  /** Makes the trial; a failure in the measured JVM is a {@link Outcome.Failure}. */
  Outcome measure(Trial trial) throws InterruptedException;

  /**
   * Returns where code begins that needs the measured build of Weft; empty if it cannot be told.
   */
  default Optional<EntryPoint> entryPoint() {
    return Optional.empty();
  }
}
