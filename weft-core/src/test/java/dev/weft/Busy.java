package dev.weft;

import java.time.Duration;

/** Work that holds its thread. */
final class Busy {
  private Busy() {}

  /** Computes until that much time has passed, and looks at nothing else. */
  static void compute(Duration time) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < time.toNanos()) {
      Thread.onSpinWait();
    }
  }
}
