package dev.weft.internal.hook;

import dev.weft.internal.Uninterrupted;
import org.jspecify.annotations.Nullable;

/**
 * The JDK's own pollers, for blocking calls that Weft does not hook. They are virtual threads,
 * which the static initializer of {@code sun.nio.ch.Poller} starts on the thread that makes the
 * first blocking I/O call. If a fiber did, they would be guests of its scheduler, end with it and
 * keep it from stopping. So a plain thread initializes the class first, while the scheduler is
 * being built.
 */
public final class JdkPollers {
  private static volatile @Nullable Thread starter;

  private JdkPollers() {}

  /** Starts a thread that starts the pollers and then runs a task; called once. */
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

  /** Waits for the end of that thread; called by platform threads before they run fibers. */
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
