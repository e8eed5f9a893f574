package dev.weft;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a condition, with a limit, where no event signals it. */
public final class Eventually {
  private static final long LIMIT_NANOS = 15_000_000_000L;

  private Eventually() {}

  /** Returns as soon as the condition holds; fails if it never does. */
  public static void eventually(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT_NANOS) {
        throw new AssertionError("has not come about: " + what);
      }
      LockSupport.parkNanos(100_000);
    }
  }

  /** Returns as soon as the fiber waits: for a lock, a timer, the end of its suspension. */
  public static void waits(Fiber<?> fiber) {
    eventually(fiber + " waits", () -> fiber.status() == Fiber.Status.WAITING);
  }
}
