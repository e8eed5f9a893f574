package dev.weft;

import java.time.Duration;

/** Computation that holds its thread. */
final class Busy {
  private Busy() {}

  /** Computes until this much time has passed, without a scheduling point. */
  static void compute(Duration time) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < time.toNanos()) {
      Thread.onSpinWait();
    }
  }
}
