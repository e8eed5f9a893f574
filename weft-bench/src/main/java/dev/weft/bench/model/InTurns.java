package dev.weft.bench.model;

/**
 * A way to measure a contestant in many short windows. Its JVM stays while the other contestants
 * have their windows, so two numbers that are compared lie a fraction of a second apart. If all
 * contestants of a comparison are measured so, they take turns; {@link #measure} is for one alone.
 */
public interface InTurns extends Measurement {
  /** Measures one window. */
  @Override
  default Outcome measure(Trial trial) throws InterruptedException {
    try (Session session = open(trial)) {
      return session.window();
    }
  }

  /** Starts a JVM, warms it up, and returns when it waits for its first window. */
  Session open(Trial trial) throws InterruptedException;

  /** A contestant that waits for its turn. */
  interface Session extends AutoCloseable {
    /** Measures one window: one reading of each metric. */
    Outcome window() throws InterruptedException;

    /** Ends the JVM. */
    @Override
    void close();
  }
}
