package dev.weft.internal.jdk;

/** Thrown if a class inside this JDK is not as Weft expects it. */
public final class UnsupportedJdk extends Exception {
  private static final long serialVersionUID = 1;

  /** Says what is different. */
  public UnsupportedJdk(String difference) {
    super(difference);
  }

  /** Says it by what a look-up threw. */
  public UnsupportedJdk(Throwable cause) {
    super(cause.toString(), cause);
  }
}
