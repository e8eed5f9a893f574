package dev.weft.internal;

import com.google.errorprone.annotations.CheckReturnValue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Faults of Weft's own that Weft has noticed and survived. Each is logged; a test run fails if
 * there is one.
 */
public final class Faults {
  private static final AtomicLong COUNT = new AtomicLong();

  private static volatile Runnable suspicion = () -> {};

  private Faults() {}

  /** Sets what waits until it is known whether what looks like a fault now is one. */
  public static void setSuspicion(Runnable wait) {
    suspicion = wait;
  }

  /** Waits until it is known whether what looks like a fault now is one: for tests. */
  public static void awaitSuspected() {
    suspicion.run();
  }

  /** Counts a fault, and returns the line that the caller logs: a log line names its caller. */
  @CheckReturnValue
  public static String record(String what) {
    COUNT.incrementAndGet();
    return "a fault of Weft's, please report it: " + what;
  }

  /** Returns how many there have been in this JVM. */
  public static long count() {
    return COUNT.get();
  }

  /** Takes back the count of a fault that a test has caused on purpose. */
  public static void forget(long faults) {
    COUNT.addAndGet(-faults);
  }
}
