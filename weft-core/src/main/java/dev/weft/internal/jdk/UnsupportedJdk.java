package dev.weft.internal.jdk;

/** Thrown if a class inside this JDK is not as Weft expects it. */
public final class UnsupportedJdk extends Exception {
  private static final long serialVersionUID = 1;

  /** Creates an exception with a message that says what is different. */
  public UnsupportedJdk(String difference) {
    super(difference);
  }

  /** Creates an exception with the message of the failed look-up. */
  public UnsupportedJdk(Throwable cause) {
    super(cause.toString(), cause);
  }
}
