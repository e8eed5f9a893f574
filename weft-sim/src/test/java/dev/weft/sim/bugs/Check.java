package dev.weft.sim.bugs;

import java.util.Objects;

/** How a program notices that it failed. */
public final class Check {
  private Check() {}

  /** Fails unless the two are equal. */
  public static void equal(Object expected, Object actual, String what) {
    if (!Objects.equals(expected, actual)) {
      throw new AssertionError(what + ": expected " + expected + ", was " + actual);
    }
  }

  /** Fails unless the condition holds. */
  public static void that(boolean condition, String otherwise) {
    if (!condition) {
      throw new AssertionError(otherwise);
    }
  }
}
