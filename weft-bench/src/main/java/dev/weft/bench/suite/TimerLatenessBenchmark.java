package dev.weft.bench.suite;

import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedProbe;
import dev.weft.bench.run.Probe;
import io.netty.util.HashedWheelTimer;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** How late callbacks run, of a thousand timers on a machine that has nothing else to do. */
public final class TimerLatenessBenchmark {
  private static final Metric MEDIAN = new Metric("median", "µs late", Metric.Better.LESS);
  private static final Metric P99 = new Metric("99 %", "µs late", Metric.Better.LESS);
  private static final Metric MAX = new Metric("latest", "µs late", Metric.Better.LESS);
  private static final Metric EARLY = new Metric("early", "timers", Metric.Better.LESS);

  private TimerLatenessBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "timer-lateness",
            "How late a timer of 1 to 50 ms calls back, of 1,000 that are pending.")
        .metrics(MEDIAN, P99, MAX, EARLY)
        .contestant("Weft", ForkedProbe.of(OfWeft.class))
        .contestant("ScheduledThreadPoolExecutor", ForkedProbe.of(OfExecutor.class))
        .contestant("Netty HashedWheelTimer, 1 ms", ForkedProbe.of(OfNetty.class))
        .bar(Bar.within(EARLY, 0, "Weft"))
        .build();
  }

  /** Sets Weft's timers. */
  public static final class OfWeft extends Punctuality {
    private final Scheduler scheduler = Scheduler.builder().build().start();

    @Override
    void after(Duration delay, Runnable callback) {
      scheduler.timers().after(delay, callback::run);
    }
  }

  /** Sets timers of the JDK's executor. */
  public static final class OfExecutor extends Punctuality {
    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);

    @Override
    void after(Duration delay, Runnable callback) {
      var _ = executor.schedule(callback, delay.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  /** Sets timers of Netty's. */
  public static final class OfNetty extends Punctuality {
    private final HashedWheelTimer wheel = new HashedWheelTimer(1, TimeUnit.MILLISECONDS);

    @Override
    void after(Duration delay, Runnable callback) {
      wheel.newTimeout(_ -> callback.run(), delay.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  /** Sets a thousand, waits for all, and so on. */
  abstract static class Punctuality implements Probe {
    private static final int TIMERS = 1_000;
    private static final int WARM_UPS = 20;

    @Override
    public final Map<String, Double> measure(String parameter, boolean quick)
        throws InterruptedException {
      int runs = quick ? 20 : 100;
      Samples micros = new Samples(runs * TIMERS);
      Random random = new Random(42);
      for (int i = -WARM_UPS; i < runs; i++) {
        long[] late = setAll(random);
        if (i >= 0) {
          for (long nanos : late) {
            micros.add(nanos / 1e3);
          }
        }
      }
      return Map.of(
          MEDIAN.name(),
          micros.median(),
          P99.name(),
          micros.percentile(99),
          MAX.name(),
          micros.max(),
          EARLY.name(),
          (double) micros.below(0));
    }

    private long[] setAll(Random random) throws InterruptedException {
      long[] late = new long[TIMERS];
      CountDownLatch pending = new CountDownLatch(TIMERS);
      for (int i = 0; i < TIMERS; i++) {
        int timer = i;
        long delay = random.nextLong(1_000_000, 50_000_000);
        long due = System.nanoTime() + delay;
        after(
            Duration.ofNanos(delay),
            () -> {
              late[timer] = System.nanoTime() - due;
              pending.countDown();
            });
      }
      pending.await();
      return late;
    }

    abstract void after(Duration delay, Runnable callback);
  }
}
