package dev.weft.bench.suite;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;

/** Fibers or threads that run the bodies of a benchmark: the same code runs on either. */
@FunctionalInterface
interface Crew {
  /** Starts one for each body and awaits all of them; the first failure is thrown. */
  void run(List<Body> bodies) throws InterruptedException;

  /** Returns fibers of a scheduler. */
  static Crew fibersOf(Scheduler scheduler) {
    return bodies -> {
      Fiber<?>[] fibers = new Fiber<?>[bodies.size()];
      for (int i = 0; i < fibers.length; i++) {
        fibers[i] = scheduler.go(bodies.get(i));
      }
      for (Fiber<?> fiber : fibers) {
        fiber.join();
      }
    };
  }

  /** Returns virtual threads on the JDK's scheduler. */
  static Crew virtualThreads() {
    return threads(Thread.ofVirtual().factory());
  }

  /** Returns platform threads. */
  static Crew platformThreads() {
    return threads(Thread.ofPlatform().factory());
  }

  private static Crew threads(ThreadFactory factory) {
    return bodies -> {
      AtomicReference<Throwable> failure = new AtomicReference<>();
      Thread[] threads = new Thread[bodies.size()];
      for (int i = 0; i < threads.length; i++) {
        Body body = bodies.get(i);
        threads[i] = factory.newThread(() -> run(body, failure));
        threads[i].start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      if (failure.get() != null) {
        throw new CompletionException(failure.get());
      }
    };
  }

  private static void run(Body body, AtomicReference<Throwable> failure) {
    try {
      body.run();
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
  }
}
