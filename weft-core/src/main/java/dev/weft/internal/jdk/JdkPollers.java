package dev.weft.internal.jdk;

import dev.weft.internal.Uninterrupted;

/**
 * The JDK's own pollers, for blocking calls that Weft does not hook. They are virtual threads, and
 * whoever does the first blocking I/O starts them: were that a fiber, they would be guests of its
 * scheduler, end with it and keep it from stopping. So a plain thread starts them first, while the
 * scheduler is being built.
 */
public final class JdkPollers {
  private static final Thread STARTER =
      Thread.ofPlatform().daemon().name("weft-jdk-pollers").start(JdkPollers::start);

  private JdkPollers() {}

  /** Begins to start them if nobody has yet. */
  public static void begin() {
    // the initializer of this class has
  }

  /** Waits until they are there; called by platform threads before they run fibers. */
  public static void await() {
    Uninterrupted.await(STARTER::join);
  }

  private static void start() {
    try {
      Class.forName("sun.nio.ch.Poller");
    } catch (ClassNotFoundException e) {
      // a JDK without it has nothing to start
    }
  }
}
