package dev.weft.bench.suite;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.CpuClock;
import dev.weft.bench.run.ForkedProbe;
import dev.weft.bench.run.Probe;
import java.time.Duration;
import java.util.Map;

/** A hundred thousand fibers sleep at the same time, each ten times for 10 ms. */
public final class SleepBenchmark {
  private static final Metric WALL = new Metric("wall time", "ms", Metric.Better.LESS);
  private static final Metric CPU = new Metric("CPU time", "ms", Metric.Better.LESS);
  private static final int SLEEPERS = 100_000;
  private static final int TIMES = 10;
  private static final Duration NAP = Duration.ofMillis(10);

  private SleepBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "sleep", "What it costs that 100,000 fibers sleep ten times for 10 ms, all at once.")
        .metrics(WALL, CPU)
        .contestant("Weft", ForkedProbe.of(OfWeft.class))
        .contestant("virtual threads", ForkedProbe.of(OfVirtualThreads.class))
        .bar(Bar.atMost(WALL, 0.7, "virtual threads"))
        .bar(Bar.atMost(CPU, 0.7, "virtual threads"))
        .build();
  }

  /** With fibers. */
  public static final class OfWeft extends Sleepers {
    private final Scheduler scheduler = Scheduler.builder().build().start();

    @Override
    void sleepAll() throws InterruptedException {
      Fiber<?>[] fibers = new Fiber<?>[SLEEPERS];
      for (int i = 0; i < SLEEPERS; i++) {
        fibers[i] = scheduler.go(OfWeft::sleep);
      }
      for (Fiber<?> fiber : fibers) {
        fiber.join();
      }
    }

    private static void sleep() throws InterruptedException {
      for (int i = 0; i < TIMES; i++) {
        Fiber.sleep(NAP);
      }
    }
  }

  /** With virtual threads. */
  public static final class OfVirtualThreads extends Sleepers {
    @Override
    void sleepAll() throws InterruptedException {
      Thread[] threads = new Thread[SLEEPERS];
      for (int i = 0; i < SLEEPERS; i++) {
        threads[i] = Thread.startVirtualThread(OfVirtualThreads::sleep);
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }

    private static void sleep() {
      try {
        for (int i = 0; i < TIMES; i++) {
          Thread.sleep(NAP);
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException("nobody interrupts this thread", e);
      }
    }
  }

  /** Lets all sleep several times: first to warm up, then by the clock. */
  abstract static class Sleepers implements Probe {
    private static final int WARM_UPS = 3;

    @Override
    public final Map<String, Double> measure(String parameter, boolean quick)
        throws InterruptedException {
      int runs = quick ? 3 : 7;
      Samples wall = new Samples(runs);
      Samples cpu = new Samples(runs);
      for (int i = -WARM_UPS; i < runs; i++) {
        System.gc(); // what the last run left is not this one's to clean up
        long cpuBefore = CpuClock.nanos();
        long before = System.nanoTime();
        sleepAll();
        if (i >= 0) {
          wall.add((System.nanoTime() - before) / 1e6);
          cpu.add((CpuClock.nanos() - cpuBefore) / 1e6);
        }
      }
      return Map.of(WALL.name(), wall.median(), CPU.name(), cpu.median());
    }

    abstract void sleepAll() throws InterruptedException;
  }
}
