package dev.weft.sim;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How packets between two hosts fare, in both directions. What is not set here is as in the {@link
 * Network}. Everything that happens is drawn from the seed.
 */
public final class Link {
  private final @Nullable Link base;
  private final FaultCounts faults;
  private long minLatency = -1;
  private long maxLatency = -1;
  private long stallNanos = -1;
  private double resets = -1;
  private double stalls = -1;
  private double refusals = -1;
  private double losses = -1;
  private double silences = -1;

  private Link(@Nullable Link base, FaultCounts faults) {
    this.base = base;
    this.faults = faults;
  }

  /** Returns the settings of a network without faults. */
  static Link ofNetwork(FaultCounts faults) {
    Link link = new Link(null, faults);
    link.latency(Duration.ofNanos(100_000), Duration.ofMillis(1));
    link.resets = 0;
    link.stalls = 0;
    link.stallNanos = 0;
    link.refusals = 0;
    link.losses = 0;
    link.silences = 0;
    return link;
  }

  /** Returns settings for two hosts, as those of the network until they are changed. */
  Link ofPair() {
    return new Link(this, faults);
  }

  /** Sets how long a packet takes: evenly between the two, each time anew. */
  public Link latency(Duration min, Duration max) {
    if (min.isNegative() || max.compareTo(min) < 0) {
      throw new IllegalArgumentException(
          "latency must be from 0 or more up to the same or more, not " + min + " to " + max);
    }
    minLatency = min.toNanos();
    maxLatency = max.toNanos();
    return this;
  }

  /**
   * Sets the probability with which a segment resets its connection. The bytes of the segment get
   * through in half of the cases; each end then fails with "Connection reset".
   */
  public Link resets(double probability) {
    resets = check(probability, Fault.RESET);
    return this;
  }

  /** Sets with which probability a segment of a connection is late, and by how much. */
  public Link stalls(double probability, Duration duration) {
    Objects.requireNonNull(duration, "duration");
    if (duration.isNegative()) {
      throw new IllegalArgumentException("a stall must take 0 or more, not " + duration);
    }
    stalls = check(probability, Fault.STALL);
    stallNanos = duration.toNanos();
    return this;
  }

  /** Sets the probability with which an attempt to connect is refused. */
  public Link refusals(double probability) {
    refusals = check(probability, Fault.REFUSAL);
    return this;
  }

  /** Sets the probability with which a datagram is lost. Connections show loss as a stall. */
  public Link losses(double probability) {
    losses = check(probability, Fault.LOSS);
    return this;
  }

  /**
   * Sets the probability with which a connection to a host that crashes stays silent: it is reset
   * only when bytes reach the host after its restart. Other connections are reset at the crash.
   */
  public Link silences(double probability) {
    silences = check(probability, Fault.SILENCE);
    return this;
  }

  private double check(double probability, Fault fault) {
    if (!(probability >= 0 && probability <= 1)) {
      throw new IllegalArgumentException("a probability must be 0 to 1, not " + probability);
    }
    if (probability > 0) {
      faults.expect(fault);
    }
    return probability;
  }

  // ---- what holds ----

  long minLatency() {
    return minLatency < 0 && base != null ? base.minLatency() : minLatency;
  }

  long maxLatency() {
    return maxLatency < 0 && base != null ? base.maxLatency() : maxLatency;
  }

  double resets() {
    return resets < 0 && base != null ? base.resets() : resets;
  }

  double stalls() {
    return stalls < 0 && base != null ? base.stalls() : stalls;
  }

  long stallNanos() {
    return stallNanos < 0 && base != null ? base.stallNanos() : stallNanos;
  }

  double refusals() {
    return refusals < 0 && base != null ? base.refusals() : refusals;
  }

  double losses() {
    return losses < 0 && base != null ? base.losses() : losses;
  }

  double silences() {
    return silences < 0 && base != null ? base.silences() : silences;
  }
}
