package dev.weft.bench.suite;

import dev.weft.Body;
import dev.weft.bench.run.CpuClock;

/**
 * What a piece of work takes that is done over and over: medians, in microseconds. No collection is
 * asked for in between: a full one gives memory back, and to get it again, page by page, was more
 * than half of what {@code sleep} took.
 */
record Timed(double wall, double cpu) {
  /** Does it so many times. */
  static Timed of(int runs, Body work) throws Exception {
    Samples wall = new Samples(runs);
    Samples cpu = new Samples(runs);
    for (int i = 0; i < runs; i++) {
      long cpuBefore = CpuClock.nanos();
      long before = System.nanoTime();
      work.run();
      wall.add((System.nanoTime() - before) / 1e3);
      cpu.add((CpuClock.nanos() - cpuBefore) / 1e3);
    }
    return new Timed(wall.median(), cpu.median());
  }
}
