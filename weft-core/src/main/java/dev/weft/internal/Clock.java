package dev.weft.internal;

/** A monotonic clock in nanoseconds; injected, so that tests can bring their own. */
@FunctionalInterface
public interface Clock {
  /** The JVM's clock. */
  Clock SYSTEM = System::nanoTime;

  /** Returns the time; only differences mean anything. */
  long nanoTime();
}
