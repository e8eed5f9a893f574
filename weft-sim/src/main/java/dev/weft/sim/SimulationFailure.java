package dev.weft.sim;

/**
 * A failure that the simulation itself has found: a deadlock, a run without end, or something that
 * cannot be simulated.
 */
public class SimulationFailure extends Error {
  private static final long serialVersionUID = 1;

  /** Creates a failure. */
  public SimulationFailure(String message) {
    super(message);
  }

  /** Fibers wait for each other, or all fibers wait and no timer is left. */
  public static final class Deadlock extends SimulationFailure {
    private static final long serialVersionUID = 1;

    Deadlock(String message) {
      super(message);
    }
  }

  /** A run took more steps than allowed. */
  public static final class Endless extends SimulationFailure {
    private static final long serialVersionUID = 1;

    Endless(String message) {
      super(message);
    }
  }

  /** The program called {@code System.exit} with a status that is not 0. */
  public static final class Exit extends SimulationFailure {
    private static final long serialVersionUID = 1;

    Exit(int status) {
      super("the program has called System.exit(" + status + ")");
    }
  }

  /** The program used something that cannot be simulated. */
  public static final class Unsupported extends SimulationFailure {
    private static final long serialVersionUID = 1;

    Unsupported(String message) {
      super(message);
    }
  }

  /** Two runs of one seed differed: something in the program does not come from the simulation. */
  public static final class NotDeterministic extends SimulationFailure {
    private static final long serialVersionUID = 1;

    NotDeterministic(String message) {
      super(message);
    }
  }

  /** The program failed under a seed; the message is the report. */
  public static final class Found extends SimulationFailure {
    private static final long serialVersionUID = 1;

    Found(String message, Throwable cause) {
      super(message);
      initCause(cause);
    }
  }
}
