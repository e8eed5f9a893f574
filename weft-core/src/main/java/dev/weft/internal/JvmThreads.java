package dev.weft.internal;

/**
 * Which virtual threads of the JVM run on Weft, by {@code -Dweft.threads}: {@code all}, or, if it
 * is {@code jdk} or not set, the threads that fibers start and no others. {@code ./weft run} sets
 * it to all.
 */
public final class JvmThreads {
  /** The name of the property. */
  public static final String PROPERTY = "weft.threads";

  /** Whether Weft runs all of them. */
  public static final boolean ALL;

  private static final String VALUE = System.getProperty(PROPERTY, "jdk");

  static {
    ALL = VALUE.equals("all");
  }

  private JvmThreads() {}

  /**
   * Checks the property.
   *
   * @throws IllegalArgumentException if it has another value
   */
  public static void check() {
    if (!ALL && !VALUE.equals("jdk")) {
      throw new IllegalArgumentException(
          "-D" + PROPERTY + " must be all or jdk, not '" + VALUE + "'");
    }
  }
}
