package dev.weft.sim;

import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.ForkJoinWorkerThread;
import org.jspecify.annotations.Nullable;

/**
 * The plain threads of a run. A fiber runs in place of each; rewritten methods of {@code Thread},
 * such as join and interrupt, go to the fiber's thread. {@code Thread.currentThread()} inside is
 * the fiber's thread.
 */
final class PlainThreads {
  private final Map<Thread, Thread> inPlace = new IdentityHashMap<>();
  private final Map<Thread, Thread> plain = new IdentityHashMap<>();

  // for default names, because the JDK's counters are those of the JVM
  private int names;
  private int pools;
  private int timers;

  /** Returns what to call a thread that cannot be simulated; null if it can. */
  static @Nullable String refused(Thread plain) {
    if (plain.getClass().getName().startsWith("dev.weft.internal.")) {
      return "a scheduler with threads of its own";
    }
    if (plain instanceof ForkJoinWorkerThread) {
      return "a ForkJoinPool, which parallel streams use too";
    }
    return null;
  }

  /** Starts a fiber in place of a thread; returns false for threads of the JDK's own. */
  boolean startInPlace(Thread thread) {
    if (thread.getClass().getName().startsWith("jdk.internal.misc.")) {
      return false;
    }
    if (inPlace.containsKey(thread)) {
      throw new IllegalThreadStateException("cannot start " + thread + " twice");
    }
    Thread fiber = Thread.ofVirtual().name(thread.getName()).unstarted(() -> run(thread));
    fiber.setContextClassLoader(thread.getContextClassLoader());
    inPlace.put(thread, fiber);
    plain.put(fiber, thread);
    fiber.start();
    return true;
  }

  private static void run(Thread plain) {
    try {
      ((Runnable) plain).run();
    } catch (Throwable e) {
      plain.getUncaughtExceptionHandler().uncaughtException(plain, e);
    }
  }

  @Nullable Thread inPlaceOf(Thread thread) {
    return inPlace.get(thread);
  }

  Thread plainOf(Thread fiber) {
    return plain.getOrDefault(fiber, fiber);
  }

  /** Returns whether a fiber is in place of no thread, or of a daemon. */
  boolean isDaemon(Thread fiber) {
    return inPlace.entrySet().stream()
        .noneMatch(entry -> entry.getValue() == fiber && !entry.getKey().isDaemon());
  }

  /** Returns whether a thread that keeps a process alive has not ended. */
  boolean hasNonDaemon() {
    return inPlace.entrySet().stream()
        .anyMatch(entry -> !entry.getKey().isDaemon() && entry.getValue().isAlive());
  }

  /** Returns the default name of the next thread. */
  String nextName() {
    return "Thread-" + names++;
  }

  /** Returns the number of the next pool of {@code Executors}. */
  int nextPool() {
    return ++pools;
  }

  /** Returns the number of the next {@code java.util.Timer}. */
  int nextTimer() {
    return timers++;
  }

  void clear() {
    inPlace.clear();
    plain.clear();
    names = 0;
    pools = 0;
    timers = 0;
  }

  /** Runs a task in a fiber of its own. */
  static void runLater(Runnable task, long delayNanos, String name) {
    Thread.ofVirtual()
        .name(name)
        .start(
            () -> {
              if (delayNanos > 0) {
                try {
                  Thread.sleep(Duration.ofNanos(delayNanos));
                } catch (InterruptedException e) {
                  return; // the run has ended
                }
              }
              task.run();
            });
  }
}
