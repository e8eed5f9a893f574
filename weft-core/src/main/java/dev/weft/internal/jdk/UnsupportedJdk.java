package dev.weft.internal.jdk;

/** Thrown if a class inside this JDK is not as Weft expects it. */
public final class UnsupportedJdk extends Exception {
  private static final long serialVersionUID = 1;

  public UnsupportedJdk(Throwable cause) {
    super(cause.toString(), cause);
  }
}
