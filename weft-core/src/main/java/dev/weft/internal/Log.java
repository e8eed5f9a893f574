package dev.weft.internal;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Weft's log. A class of its own, so that the JDK's logging is loaded only at the first message.
 */
public final class Log {
  private static final Logger LOGGER = System.getLogger("dev.weft");

  private Log() {}

  public static void warn(String message) {
    LOGGER.log(Level.WARNING, message);
  }

  public static void error(String message) {
    LOGGER.log(Level.ERROR, message);
  }

  public static void error(String message, Throwable cause) {
    LOGGER.log(Level.ERROR, message, cause);
  }
}
