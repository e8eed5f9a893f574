package dev.weft.sim;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/** How often each kind of fault happened. A kind that was asked for is counted from 0. */
final class FaultCounts {
  private final Map<Fault, Long> counts = new EnumMap<>(Fault.class);

  /** Notes that the program has asked for faults of this kind. */
  void expect(Fault fault) {
    counts.putIfAbsent(fault, 0L);
  }

  void add(Fault fault) {
    counts.merge(fault, 1L, Long::sum);
  }

  void addAll(Map<Fault, Long> others) {
    others.forEach((fault, count) -> counts.merge(fault, count, Long::sum));
  }

  Map<Fault, Long> snapshot() {
    return Collections.unmodifiableMap(new EnumMap<>(counts));
  }
}
