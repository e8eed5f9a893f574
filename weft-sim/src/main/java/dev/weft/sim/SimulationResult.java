package dev.weft.sim;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * What came of an exploration.
 *
 * @param runs how many runs there were, repeats and shrinking not counted
 * @param schedules how many of them differed
 * @param virtualTime how much virtual time passed in them
 * @param faults how often each kind of fault happened that the program has asked for; 0: never
 * @param failure the report of the first failing seed, if any
 */
public record SimulationResult(
    long runs,
    long schedules,
    Duration virtualTime,
    Map<Fault, Long> faults,
    Optional<FailureReport> failure) {
  /** Returns whether a run failed. */
  public boolean failed() {
    return failure.isPresent();
  }

  /**
   * Throws if a run failed.
   *
   * @throws SimulationFailure.Found with the report as its message
   */
  public void check() {
    failure.ifPresent(
        report -> {
          throw new SimulationFailure.Found(report.text(), report.cause());
        });
  }
}
