package dev.weft;

import java.time.Duration;

/** Computation that holds its thread. */
public final class Busy {
  private Busy() {}

  /** Computes until that much time has passed, and looks at nothing else. */
  public static void compute(Duration time) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < time.toNanos()) {
      Thread.onSpinWait();
    }
  }
}
