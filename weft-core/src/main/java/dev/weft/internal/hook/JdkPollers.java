package dev.weft.internal.hook;

import dev.weft.internal.Uninterrupted;
import org.jspecify.annotations.Nullable;

/**
 * The JDK's own pollers, for blocking calls that Weft does not hook. They are virtual threads, and
 * whoever does the first blocking I/O starts them: were that a fiber, they would be guests of its
 * scheduler, end with it and keep it from stopping. So a plain thread starts them first, while the
 * scheduler is being built.
 */
public final class JdkPollers {
  private static volatile @Nullable Thread starter;

  private JdkPollers() {}

  /** Begins to start them, and then to do this; called once. */
  public static void begin(Runnable then) {
    starter =
        Thread.ofPlatform()
            .daemon()
            .name("weft-jdk-pollers")
            .start(
                () -> {
                  start();
                  then.run();
                });
  }

  /** Waits until all is done; called by platform threads before they run fibers. */
  public static void await() {
    Thread begun = starter;
    if (begun != null) {
      Uninterrupted.await(begun::join);
      starter = null;
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
