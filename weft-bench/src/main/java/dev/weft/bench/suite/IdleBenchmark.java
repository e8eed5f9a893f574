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
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The CPU time of a process in which all fibers, or all threads, wait. */
public final class IdleBenchmark {
  private static final Metric CPU = new Metric("CPU time, of one core", "%", Metric.Better.LESS);
  private static final int WAITING = 100;

  private IdleBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "idle", "What a scheduler on all cores consumes while all its fibers wait, in 5 s.")
        .metrics(CPU)
        .contestant("Weft", ForkedProbe.of(OfWeft.class))
        .contestant("ScheduledThreadPoolExecutor", ForkedProbe.of(OfExecutor.class))
        .bar(Bar.within(CPU, 1, "Weft"))
        .build();
  }

  /** A scheduler with fibers that sleep and fibers that wait for them. */
  public static final class OfWeft extends Idle {
    @Override
    void begin() {
      Scheduler scheduler = Scheduler.builder().build().start();
      for (int i = 0; i < WAITING; i++) {
        Fiber<Void> sleeper = scheduler.go(() -> Fiber.sleep(Duration.ofHours(1)));
        scheduler.go(() -> sleeper.join());
      }
    }
  }

  /** An executor with tasks that are due later. */
  public static final class OfExecutor extends Idle {
    @Override
    void begin() {
      int threads = Runtime.getRuntime().availableProcessors();
      ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(threads);
      executor.prestartAllCoreThreads();
      for (int i = 0; i < WAITING; i++) {
        var _ = executor.schedule(() -> {}, 1, TimeUnit.HOURS);
      }
    }
  }

  /** Begins, waits until the JVM has calmed down, and reads the CPU clock twice. */
  abstract static class Idle implements Probe {
    @Override
    public final Map<String, Double> measure(String parameter, boolean quick)
        throws InterruptedException {
      begin();
      Thread.sleep(2_000);
      long cpuBefore = CpuClock.nanos();
      long before = System.nanoTime();
      Thread.sleep(5_000);
      double share = (double) (CpuClock.nanos() - cpuBefore) / (System.nanoTime() - before);
      return Map.of(CPU.name(), 100 * share);
    }

    abstract void begin();
  }
}
