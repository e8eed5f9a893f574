package dev.weft.sim.bugs;

import dev.weft.Body;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Runs a program again and again on the real machine, as a stress test does, until it fails, hangs
 * or its time is over.
 */
final class PlainStress {
  private static final Duration HANG = Duration.ofSeconds(1);

  private PlainStress() {}

  /**
   * How a stress test ended.
   *
   * @param failure what went wrong, or empty
   * @param runs how often the program ran
   * @param took how long it took
   */
  record Outcome(String failure, long runs, Duration took) {
    boolean found() {
      return !failure.isEmpty();
    }
  }

  static Outcome run(Body program, Duration limit) throws InterruptedException {
    AtomicLong runs = new AtomicLong();
    AtomicReference<String> failure = new AtomicReference<>("");
    long start = System.nanoTime();
    long end = start + limit.toNanos();
    Thread runner =
        Thread.ofPlatform()
            .daemon() // a program that hangs is left behind
            .start(
                () -> {
                  while (System.nanoTime() - end < 0 && failure.get().isEmpty()) {
                    try {
                      program.run();
                    } catch (Throwable e) {
                      failure.compareAndSet("", e.toString());
                    }
                    runs.incrementAndGet();
                  }
                });
    long seen = -1;
    long seenAt = start;
    while (runner.isAlive()) {
      long now = System.nanoTime();
      if (runs.get() != seen) {
        seen = runs.get();
        seenAt = now;
      } else if (now - seenAt > HANG.toNanos()) {
        failure.compareAndSet("", "hangs");
        break;
      }
      TimeUnit.NANOSECONDS.timedJoin(runner, 10_000_000);
    }
    return new Outcome(failure.get(), runs.get(), Duration.ofNanos(System.nanoTime() - start));
  }
}
