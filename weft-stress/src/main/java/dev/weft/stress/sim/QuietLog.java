package dev.weft.stress.sim;

import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Switches the log of a simulated server off. At the end of each run the simulation interrupts what
 * is left, the fibers of killed servers too, and a server would log a warning each time.
 */
final class QuietLog {
  private QuietLog() {}

  /** Does something while a logger logs nothing. */
  static <T> T of(String name, Supplier<T> action) {
    Logger logger = Logger.getLogger(name);
    Level before = logger.getLevel();
    logger.setLevel(Level.OFF);
    try {
      return action.get();
    } finally {
      logger.setLevel(before);
    }
  }
}
