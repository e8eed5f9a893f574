package dev.weft.sim;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The clock of a host in a simulation. It may be off by an offset, and may run faster or slower
 * than the simulation's time.
 *
 * <p>The offset changes the time of day: {@code System.currentTimeMillis}, {@code Instant.now},
 * {@code Clock}, {@code Date}. The drift changes the time of day and {@code System.nanoTime}, and
 * with them sleeps, timed waits of {@code java.util.concurrent}, delays of {@code
 * CompletableFuture} and scheduled executors: on a host whose clock runs fast they are over sooner.
 * Timed waits of monitors, Weft's own timers and {@link Simulation#elapsed} keep to the
 * simulation's time.
 */
public final class HostClock {
  private static final long BILLION = 1_000_000_000L;

  /** Longer waits end with the run. */
  private static final long FOR_EVER = 1L << 52;

  private final LongSupplier simulationTime;
  private final FaultCounts faults;

  // the host's time was hostThen when the simulation's was then
  private long then;
  private long hostThen;
  private long offset;

  // nanoseconds too many in a second
  private long drift;

  HostClock(LongSupplier simulationTime, FaultCounts faults) {
    this.simulationTime = simulationTime;
    this.faults = faults;
    this.then = simulationTime.getAsLong();
    this.hostThen = then;
  }

  /** Sets how far the host's time of day is ahead; negative: behind. It jumps there at once. */
  public HostClock offset(Duration ahead) {
    offset = ahead.toNanos();
    if (offset != 0) {
      faults.expect(Fault.CLOCK_OFFSET);
    }
    return this;
  }

  /**
   * Sets how much faster than the simulation's time the clock runs, in millionths; negative:
   * slower. A quartz clock drifts by up to 100, a bad or a virtual one by much more.
   */
  public HostClock drift(double partsPerMillion) {
    if (!(Math.abs(partsPerMillion) <= 500_000)) {
      throw new IllegalArgumentException(
          "drift must be between -500,000 and 500,000 parts per million, not " + partsPerMillion);
    }
    long now = simulationTime.getAsLong();
    hostThen = at(now);
    then = now;
    drift = Math.round(partsPerMillion * 1_000);
    if (drift != 0) {
      faults.expect(Fault.CLOCK_DRIFT);
    }
    return this;
  }

  private long at(long time) {
    long passed = time - then;
    long more = passed / BILLION * drift + Math.floorDiv(passed % BILLION * drift, BILLION);
    return hostThen + passed + more;
  }

  /** Counts a use of the clock as a fault, if it drifts. */
  void countDrift() {
    if (drift != 0) {
      faults.add(Fault.CLOCK_DRIFT);
    }
  }

  /** Counts a look at the time of day as a fault, if it is off. */
  void countOffset() {
    if (offset != 0) {
      faults.add(Fault.CLOCK_OFFSET);
    }
  }

  /** Returns the host's {@code System.nanoTime}. */
  long nanoTime() {
    return at(simulationTime.getAsLong());
  }

  /** Returns how far the time of day is ahead of {@link #nanoTime}, beyond what every host's is. */
  long offsetNanos() {
    return offset;
  }

  /** Returns after how much of the simulation's time so much of the host's time has passed. */
  long simulationNanos(long hostNanos) {
    if (drift == 0 || hostNanos <= 0 || hostNanos >= FOR_EVER) {
      return hostNanos;
    }
    long now = simulationTime.getAsLong();
    long end = at(now) + hostNanos;
    long nanos = Math.max(1, (long) (hostNanos / (1 + drift / 1e9)) - 2);
    while (at(now + nanos) < end) {
      nanos++;
    }
    return nanos;
  }
}
