package dev.weft.bench.suite;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedProbe;
import dev.weft.bench.run.Probe;
import dev.weft.channel.Channel;
import dev.weft.internal.sched.LookHolds;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Looks at a million fibers that wait, while another fiber of the same thread runs. */
public final class MillionLookBenchmark {
  private static final Metric DUMP = new Metric("grouped dump", "ms", Metric.Better.LESS);
  private static final Metric DUMP_CPU =
      new Metric("CPU of the thread that dumps", "ms", Metric.Better.LESS);
  private static final Metric STATS = new Metric("stats()", "ms", Metric.Better.LESS);
  private static final Metric HOLD =
      new Metric("longest hold of the worker by any stats()", "µs", Metric.Better.LESS);
  private static final Metric PAUSE =
      new Metric("longest pause during stats(), best call", "µs", Metric.Better.LESS);
  private static final Metric NO_LOOK =
      new Metric("longest pause in the same time without, best", "µs", Metric.Better.LESS);

  private static final int MANY = 1_000_000;
  private static final int CALLS = 41;
  private static final double MOST_MILLIS = 10_000;
  private static final double MOST_MICROS = 1_000;

  private MillionLookBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "million-look",
            "Looks at 1,000,000 waiting fibers within 2 GB; the CPU time of the longest of all holds of the worker's lock by 41 calls of stats(), and the pauses that a fiber sees which yields.")
        .metrics(DUMP, DUMP_CPU, STATS, HOLD, PAUSE, NO_LOOK)
        .contestant("Weft", ForkedProbe.of(OfWeft.class, "-Xmx2g", "-XX:+UseSerialGC"))
        .bar(Bar.within(DUMP, MOST_MILLIS, "Weft"))
        .bar(Bar.within(HOLD, MOST_MICROS, "Weft"))
        .bar(Bar.within(PAUSE, MOST_MICROS, "Weft"))
        .build();
  }

  /** The fibers, on one thread. */
  public static final class OfWeft implements Probe {
    private final AtomicLong longest = new AtomicLong();
    private final AtomicBoolean over = new AtomicBoolean();

    @Override
    public Map<String, Double> measure(String parameter, boolean quick) throws Exception {
      Scheduler scheduler = Scheduler.builder().threads(1).daemon(true).build().start();
      Channel<Integer> channel = Channel.rendezvous();
      for (int i = 0; i < MANY; i++) {
        scheduler.go(() -> channel.receive());
      }
      while (scheduler.stats().waiting() < MANY) {
        Thread.sleep(20);
      }
      System.gc(); // its own pause is not that of a look
      double hold = longestHold(scheduler) / 1e3;
      Fiber<Void> ticker = scheduler.go(this::tick);
      double[] pauses = new double[CALLS];
      double[] without = new double[CALLS];
      double[] times = new double[CALLS];
      for (int i = 0; i < CALLS; i++) {
        long began = System.nanoTime();
        pauses[i] = longestDuring(scheduler::stats) / 1e3;
        long took = System.nanoTime() - began;
        times[i] = took / 1e6;
        without[i] = longestDuring(() -> spin(took)) / 1e3;
      }
      over.set(true);
      ticker.join();
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      long cpu = threads.getCurrentThreadCpuTime();
      long began = System.nanoTime();
      scheduler.groupedDump();
      return Map.of(
          DUMP.name(),
          (System.nanoTime() - began) / 1e6,
          DUMP_CPU.name(),
          (threads.getCurrentThreadCpuTime() - cpu) / 1e6,
          STATS.name(),
          median(times),
          HOLD.name(),
          hold,
          PAUSE.name(),
          least(pauses),
          NO_LOOK.name(),
          least(without));
    }

    /**
     * Returns the longest time for which any of the calls held the worker: no fiber of it runs
     * meanwhile. CPU time, since the core may be taken from the thread at any moment.
     */
    private static long longestHold(Scheduler scheduler) {
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      AtomicLong longest = new AtomicLong();
      LookHolds.observe(
          new LookHolds() {
            private long began;

            @Override
            protected void began() {
              began = threads.getCurrentThreadCpuTime();
            }

            @Override
            protected void ended(int fibers) {
              longest.accumulateAndGet(threads.getCurrentThreadCpuTime() - began, Math::max);
            }
          });
      for (int i = 0; i < CALLS; i++) {
        scheduler.stats();
      }
      LookHolds.observe(null);
      return longest.get();
    }

    private void tick() {
      long last = System.nanoTime();
      while (!over.get()) {
        Fiber.yield();
        long now = System.nanoTime();
        long pause = now - last;
        longest.accumulateAndGet(pause, Math::max);
        last = now;
      }
    }

    private long longestDuring(Runnable action) {
      longest.set(0);
      while (longest.get() == 0) {
        Thread.onSpinWait(); // until the fiber runs
      }
      action.run();
      return longest.get();
    }

    private static void spin(long nanos) {
      long began = System.nanoTime();
      while (System.nanoTime() - began < nanos) {
        Thread.onSpinWait();
      }
    }

    /** The call that a busy machine has disturbed least: stats() would hold a worker each time. */
    private static double least(double[] numbers) {
      return Arrays.stream(numbers).min().orElseThrow();
    }

    private static double median(double[] numbers) {
      double[] sorted = numbers.clone();
      Arrays.sort(sorted);
      return sorted[sorted.length / 2];
    }
  }
}
