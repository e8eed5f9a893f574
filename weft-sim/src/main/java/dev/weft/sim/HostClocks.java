package dev.weft.sim;

import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/** The clocks of the hosts of a run. */
final class HostClocks {
  /** Says on which host the running fiber is. */
  interface CurrentHost {
    /** Returns the host, which is compared by identity. */
    Object current();
  }

  /** The host of fibers that are on no other: the body of the test. */
  static final Object MAIN = new Object();

  private final LongSupplier simulationTime;
  private final Map<Object, HostClock> byHost = new IdentityHashMap<>();
  private CurrentHost hosts = () -> MAIN;
  private FaultCounts faults = new FaultCounts();

  HostClocks(LongSupplier simulationTime) {
    this.simulationTime = simulationTime;
  }

  /** Begins a run with its faults: all clocks are right, and all fibers on one host. */
  void begin(FaultCounts newFaults) {
    byHost.clear();
    faults = newFaults;
    hosts = () -> MAIN;
  }

  /** Sets what says on which host a fiber is. */
  void hosts(CurrentHost newHosts) {
    hosts = newHosts;
  }

  /** Returns the clock of a host. */
  HostClock of(Object host) {
    return byHost.computeIfAbsent(host, any -> new HostClock(simulationTime, faults));
  }

  /** Counts that the program looks at the time of day, or only at {@code System.nanoTime}. */
  void countLook(boolean atTimeOfDay) {
    if (!byHost.isEmpty()) {
      HostClock clock = of(hosts.current());
      clock.countDrift();
      if (atTimeOfDay) {
        clock.countOffset();
      }
    }
  }

  /** Returns {@code System.nanoTime} of the running fiber's host. */
  long nanoTime() {
    return byHost.isEmpty() ? simulationTime.getAsLong() : of(hosts.current()).nanoTime();
  }

  /** Returns how far the time of day of the running fiber's host is ahead. */
  long offsetNanos() {
    return byHost.isEmpty() ? 0 : of(hosts.current()).offsetNanos();
  }

  /** Returns how long a time of the running fiber's host is for the simulation. */
  long simulationNanos(long hostNanos) {
    return byHost.isEmpty() ? hostNanos : of(hosts.current()).simulationNanos(hostNanos);
  }
}
