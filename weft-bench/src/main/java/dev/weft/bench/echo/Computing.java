package dev.weft.bench.echo;

import dev.weft.Body;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Fibers, or virtual threads, of a server that compute in bursts: 20 ms, then a sleep of 1 ms. A
 * burst is an amount of work, not of time: a fiber that loses its core computes for longer. How
 * much work is 20 ms is measured once, so that a server's compiler does not matter. {@code
 * server.go} does the same.
 */
final class Computing {
  private static final Duration BETWEEN = Duration.ofMillis(1);
  private static final int BURST_MILLIS = 20;

  /** Of a unit of work: some 15 µs. */
  private static final int STEPS = 10_000;

  private static final long SEED = 88172645463325252L;

  private final double unitsPerMilli = calibrate();
  private final AtomicLong units = new AtomicLong();
  private volatile Runs runs = new Runs();

  /** The fibers of one start. */
  private static final class Runs {
    volatile boolean stopped;
  }

  /** Starts so many. */
  void start(int fibers, Consumer<Body> server) {
    Runs now = new Runs();
    runs = now;
    for (int i = 0; i < fibers; i++) {
      server.accept(() -> computeUntilStopped(now));
    }
  }

  /** Lets them end after their bursts. */
  void stop() {
    runs.stopped = true;
  }

  /** Returns how much all of them have computed, in microseconds of an undisturbed core. */
  long micros() {
    return (long) (1_000 * units.get() / unitsPerMilli);
  }

  private void computeUntilStopped(Runs mine) throws InterruptedException {
    long state = SEED;
    int burst = (int) (BURST_MILLIS * unitsPerMilli);
    while (!mine.stopped) {
      for (int i = 0; i < burst; i++) {
        state = unit(state);
        units.incrementAndGet();
      }
      check(state);
      Thread.sleep(BETWEEN);
    }
  }

  private static double calibrate() {
    long state = SEED;
    double best = 0;
    for (int i = 0; i < 50; i++) {
      long start = System.nanoTime();
      for (int j = 0; j < 100; j++) {
        state = unit(state);
      }
      best = Math.max(best, 100 * 1e6 / (System.nanoTime() - start));
    }
    check(state);
    return best;
  }

  /** Marsaglia's xorshift, some steps of it: nothing but registers. */
  private static long unit(long from) {
    long state = from;
    for (int i = 0; i < STEPS; i++) {
      state ^= state << 13;
      state ^= state >>> 7;
      state ^= state << 17;
    }
    return state;
  }

  /** Without a use of the result the compiler would leave the work out. */
  private static void check(long state) {
    if (state == 0) {
      throw new IllegalStateException("a xorshift generator does not reach 0");
    }
  }
}
