package dev.weft.bench.suite;

import dev.weft.Policy;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.WindowProbe;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * The time from a wake-up, or a start, of a fiber until that fiber runs. The fiber that woke or
 * started it computes on; the second thread of the scheduler sleeps.
 */
public final class WakeWhileBusyBenchmark {
  private static final Metric WOKEN = new Metric("woken, median", "µs", Metric.Better.LESS);
  private static final Metric WOKEN_99 = new Metric("woken, 99 %", "µs", Metric.Better.LESS);
  private static final Metric NEW = new Metric("new, median", "µs", Metric.Better.LESS);
  private static final Metric NEW_99 = new Metric("new, 99 %", "µs", Metric.Better.LESS);

  private WakeWhileBusyBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "wake-while-busy",
            "How long a woken or new fiber takes to run while the fiber that woke or started it"
                + " computes on, and another thread sleeps.")
        .parameter("policy", "fifo", "priority", "responseRatio", "timeSlice", "workStealing")
        .metrics(WOKEN, WOKEN_99, NEW, NEW_99)
        .contestant("Weft", ForkedWindows.of(OfWeft.class))
        .contestant(
            "virtual threads",
            ForkedWindows.of(OfVirtualThreads.class, "-Djdk.virtualThreadScheduler.parallelism=2"))
        .bar(Bar.within(WOKEN, 1_000, "Weft"))
        .bar(Bar.within(WOKEN_99, 5_000, "Weft"))
        .bar(Bar.within(NEW, 1_000, "Weft"))
        .bar(Bar.within(NEW_99, 5_000, "Weft"))
        .build();
  }

  /** Fibers of a scheduler with two threads. */
  public static final class OfWeft extends Contestant {
    @Override
    public Windows prepare(String policy, boolean quick) throws Exception {
      Scheduler scheduler =
          Scheduler.builder().threads(2).policy(policy(policy)).daemon(true).build().start();
      scheduler.go(() -> measure(WARM_UPS)).join();
      return () -> scheduler.go(() -> measure(quick ? FEW_ROUNDS : ROUNDS)).join();
    }

    private static Policy policy(String name) {
      return switch (name) {
        case "priority" -> Policy.priority();
        case "responseRatio" -> Policy.responseRatio();
        case "timeSlice" -> Policy.timeSlice(Duration.ofMillis(10));
        case "workStealing" -> Policy.workStealing();
        default -> Policy.fifo();
      };
    }
  }

  /** The JDK's own. */
  public static final class OfVirtualThreads extends Contestant {
    @Override
    public Windows prepare(String policy, boolean quick) throws Exception {
      measureInThread(WARM_UPS);
      return () -> measureInThread(quick ? FEW_ROUNDS : ROUNDS);
    }

    private Map<String, Double> measureInThread(int rounds) throws Exception {
      Object[] result = new Object[1];
      Thread.ofVirtual()
          .start(
              () -> {
                try {
                  result[0] = measure(rounds);
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              })
          .join();
      @SuppressWarnings("unchecked")
      Map<String, Double> numbers = (Map<String, Double>) result[0];
      return numbers;
    }
  }

  /** The same code for both: a virtual thread that a fiber starts is a fiber. */
  abstract static class Contestant implements WindowProbe {
    static final int WARM_UPS = 50;
    static final int ROUNDS = 100;
    static final int FEW_ROUNDS = 25;
    private static final long COMPUTE_NANOS = 8_000_000;

    final Map<String, Double> measure(int rounds) throws InterruptedException {
      Samples woken = new Samples(rounds);
      Samples started = new Samples(rounds);
      for (int i = 0; i < rounds; i++) {
        woken.add(microsUntilWoken());
        started.add(microsUntilStarted());
      }
      return Map.of(
          WOKEN.name(), woken.median(),
          WOKEN_99.name(), woken.percentile(99),
          NEW.name(), started.median(),
          NEW_99.name(), started.percentile(99));
    }

    private static double microsUntilWoken() throws InterruptedException {
      CountDownLatch gate = new CountDownLatch(1);
      long[] ran = new long[1];
      Thread sleeper =
          Thread.startVirtualThread(
              () -> {
                try {
                  gate.await();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
                ran[0] = System.nanoTime();
              });
      Thread.sleep(Duration.ofMillis(2)); // until it waits, and the second thread sleeps
      long start = System.nanoTime();
      gate.countDown();
      compute(start);
      sleeper.join();
      return (ran[0] - start) / 1e3;
    }

    private static double microsUntilStarted() throws InterruptedException {
      Thread.sleep(Duration.ofMillis(2));
      long[] ran = new long[1];
      long start = System.nanoTime();
      Thread thread = Thread.startVirtualThread(() -> ran[0] = System.nanoTime());
      compute(start);
      thread.join();
      return (ran[0] - start) / 1e3;
    }

    private static void compute(long start) {
      while (System.nanoTime() - start < COMPUTE_NANOS) {
        Thread.onSpinWait();
      }
    }
  }
}
