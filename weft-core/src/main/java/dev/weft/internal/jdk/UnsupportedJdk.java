package dev.weft.internal.jdk;

/** Says that something inside this JDK is not as the hook knows it. */
public final class UnsupportedJdk extends Exception {
  private static final long serialVersionUID = 1;

  public UnsupportedJdk(Throwable cause) {
    super(cause.toString(), cause);
  }
}
