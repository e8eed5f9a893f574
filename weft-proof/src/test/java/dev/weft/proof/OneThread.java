package dev.weft.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.SchedulerStats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/**
 * A scheduler with one thread. A fiber on it, its heart, beats every millisecond: it stops if
 * another fiber blocks the thread. When this is closed, all fibers must be done, and Weft must not
 * have reported a stuck worker, a deadlock or an unobserved failure meanwhile.
 */
final class OneThread implements AutoCloseable {
  /** The number of concurrent fibers, where the server has no lower limit. */
  static final int FIBERS = 200;

  /** The limit of waits that should be short; long, because the machine may be busy. */
  static final Duration LIMIT = Duration.ofSeconds(20);

  /** The body of the fibers that {@link #goAll} starts. */
  interface Numbered<T> {
    T call(int i) throws Exception;
  }

  private final Reports reports = new Reports();
  private final Scheduler scheduler =
      Scheduler.builder()
          .threads(1)
          .name("one")
          .blockedAfter(Duration.ofSeconds(2)) // loading classes is slow on a busy machine
          .build()
          .start();
  private volatile long beats;
  private volatile boolean over;

  OneThread() {
    scheduler.go(FiberOptions.named("heart"), this::beat);
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one fiber writes
  private void beat() throws InterruptedException {
    while (!over) {
      beats++;
      Fiber.sleep(Duration.ofMillis(1));
    }
  }

  <T> Fiber<T> go(Callable<T> body) {
    return scheduler.go(body);
  }

  /** Starts fibers 0 to n - 1. */
  <T> List<Fiber<T>> goAll(int n, Numbered<T> body) {
    List<Fiber<T>> fibers = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      int number = i;
      fibers.add(scheduler.go(() -> body.call(number)));
    }
    return fibers;
  }

  /** Waits for a fiber, with a limit. */
  static <T> T join(Fiber<T> fiber) throws InterruptedException {
    try {
      return fiber.join(LIMIT);
    } catch (TimeoutException e) {
      throw new AssertionError(fiber + " has not ended:\n" + fiber.scheduler().dump(), e);
    }
  }

  /** Waits for all fibers and returns their results, in their order. */
  static <T> List<T> joinAll(List<Fiber<T>> fibers) throws InterruptedException {
    List<T> results = new ArrayList<>();
    for (Fiber<T> fiber : fibers) {
      results.add(join(fiber));
    }
    return results;
  }

  /** Returns after some more heartbeats: the fibers that wait meanwhile block no thread. */
  void hasFreeThread() throws InterruptedException {
    long now = beats;
    eventually("the heart beats: the thread is free", () -> beats > now + 20);
  }

  /** Returns as soon as the condition holds; fails with a dump of the fibers if it never does. */
  void eventually(String what, BooleanSupplier condition) throws InterruptedException {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT.toNanos()) {
        throw new AssertionError("has not come about: " + what + "\n" + scheduler.dump());
      }
      Thread.sleep(1);
    }
  }

  SchedulerStats stats() {
    return scheduler.stats();
  }

  /** Returns Weft's log so far. */
  List<String> reports() {
    return List.copyOf(reports.texts);
  }

  @Override
  public void close() {
    over = true;
    boolean drained = scheduler.stop(LIMIT);
    reports.close();
    assertThat(drained).as("all fibers have ended").isTrue();
    assertThat(reports.texts).as("what Weft reported").isEmpty();
  }

  /** Collects Weft's warnings. */
  private static final class Reports extends Handler {
    private final Logger logger = Logger.getLogger("dev.weft");
    private final SimpleFormatter formatter = new SimpleFormatter();
    private final List<String> texts = new CopyOnWriteArrayList<>();

    Reports() {
      setLevel(Level.WARNING);
      logger.addHandler(this);
    }

    @Override
    public void publish(LogRecord record) {
      if (isLoggable(record)) {
        texts.add(formatter.formatMessage(record));
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
      logger.removeHandler(this);
    }
  }
}
