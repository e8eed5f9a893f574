package dev.weft.internal;

import java.lang.System.Logger;

/**
 * Weft's log. A class of its own, so that the JDK's logging is loaded only at the first message; no
 * method here logs, because a log line names the class and method that call the logger.
 */
public final class Log {
  private static final Logger LOGGER = System.getLogger("dev.weft");

  /** A class of its own, because most programs log nothing. */
  private static final class Later {
    static final LogQueue QUEUE = new LogQueue();

    private Later() {}
  }

  private Log() {}

  public static Logger logger() {
    return LOGGER;
  }

  /** Runs code that logs on another thread, for a caller that must not wait for an appender. */
  public static void later(Runnable logging) {
    Later.QUEUE.add(logging);
  }
}
