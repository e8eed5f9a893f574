package dev.weft.internal.start;

import dev.weft.internal.Log;
import java.lang.System.Logger.Level;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Starts the web console, which is in the module {@code weft-console}, if {@code -Dweft.console}
 * asks for it. Found by a ServiceLoader, so that the core does not depend on it.
 */
public interface ConsoleStarter {
  /** The property that asks for a console. */
  String PROPERTY = "weft.console";

  /** Whether the property has been looked at. */
  AtomicBoolean SEEN = new AtomicBoolean();

  /**
   * Starts a console.
   *
   * @param where the value of the property: a port, or an address and a port
   */
  void start(String where) throws Exception;

  /** Starts a console on a thread of its own if the property is set; called at each start. */
  static void startIfAsked() {
    if (SEEN.get() || !SEEN.compareAndSet(false, true)) {
      return;
    }
    String where = System.getProperty(PROPERTY);
    if (where != null) {
      Thread.ofPlatform().daemon().name("weft-console-start").start(() -> start(where, PROPERTY));
    }
  }

  private static void start(String where, String property) {
    try {
      ConsoleStarter found =
          ServiceLoader.load(ConsoleStarter.class, ConsoleStarter.class.getClassLoader())
              .findFirst()
              .orElse(null);
      if (found == null) {
        Log.logger()
            .log(
                Level.WARNING,
                "no console: -D%s=%s needs weft-console on the class path or module path"
                    .formatted(property, where));
      } else {
        found.start(where);
      }
    } catch (Throwable e) { // the program goes on without a console
      Log.logger()
          .log(Level.ERROR, "no console: -D%s=%s: %s".formatted(property, where, e.getMessage()));
    }
  }
}
