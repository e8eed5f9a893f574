package dev.weft;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for a condition that must come true, and fails if it does not within a generous limit. */
final class Await {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private Await() {}

  static void until(String what, BooleanSupplier condition) throws InterruptedException {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT.toNanos()) {
        throw new AssertionError("not within " + LIMIT + ": " + what);
      }
      Thread.sleep(1);
    }
  }

  /** Waits until a fiber waits: for a lock, a timer, its suspension to end. */
  static void waiting(Fiber<?> fiber) throws InterruptedException {
    until(fiber + " waits", () -> fiber.status() == Fiber.Status.WAITING);
  }
}
