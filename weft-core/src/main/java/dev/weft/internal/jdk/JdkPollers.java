package dev.weft.internal.jdk;

/**
 * The JDK's own pollers, for blocking calls that Weft does not hook. They are virtual threads, and
 * whoever does the first blocking I/O starts them: were that a fiber, they would be guests of its
 * scheduler, end with it and keep it from stopping. So a plain thread starts them first.
 */
public final class JdkPollers {
  private JdkPollers() {}

  /** Starts them if nobody has yet. */
  public static void startOnPlainThread() {
    if (!Thread.currentThread().isVirtual()) {
      start();
      return;
    }
    Thread starter = Thread.ofPlatform().daemon().name("weft-jdk-pollers").start(JdkPollers::start);
    boolean interrupted = false;
    while (starter.isAlive()) {
      try {
        starter.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void start() {
    try {
      Class.forName("sun.nio.ch.Poller");
    } catch (ClassNotFoundException e) {
      // a JDK without it has nothing to start
    }
  }
}
