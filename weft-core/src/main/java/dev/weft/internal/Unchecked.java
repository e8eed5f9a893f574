package dev.weft.internal;

/** Rethrows the Throwable of a method handle that throws no checked exception. */
public final class Unchecked {
  private Unchecked() {}

  /** Throws unchecked exceptions and errors as they are; returns others as a failure of the JDK. */
  public static RuntimeException rethrow(Throwable e) {
    if (e instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (e instanceof Error error) {
      throw error;
    }
    return new IllegalStateException("the JDK threw a checked exception", e);
  }
}
