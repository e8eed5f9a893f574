package dev.weft.bench.suite;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.GoProgram;

/** Go as a contestant: the same work by goroutines, in {@code src/main/go}. */
final class Go {
  private static final String NAME = "Go";
  private static final int TWO = 2;

  private Go() {}

  /** Adds the contestant, on so many threads. */
  static Comparison.Builder contestant(Comparison.Builder comparison, String work, int threads) {
    return comparison.contestant(NAME, new GoProgram(work, threads));
  }

  /** Adds the contestant, on two threads, and a limit for Weft's time ÷ Go's. */
  static Comparison.Builder withBar(Comparison.Builder comparison, String work, double atMost) {
    return bar(contestant(comparison, work, TWO), atMost);
  }

  /** Adds a limit for Weft's time ÷ Go's, which is not checked on a machine without Go. */
  static Comparison.Builder bar(Comparison.Builder comparison, double atMost) {
    return comparison.bar(Bar.atMost(Metric.TIME, atMost, NAME));
  }
}
