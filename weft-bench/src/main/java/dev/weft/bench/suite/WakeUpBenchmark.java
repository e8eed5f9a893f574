package dev.weft.bench.suite;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.WindowProbe;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** The time from a wake-up by another thread until the sleeper runs, when all have slept. */
public final class WakeUpBenchmark {
  private static final Metric MEDIAN = new Metric("median", "µs", Metric.Better.LESS);
  private static final Metric P99 = new Metric("99 %", "µs", Metric.Better.LESS);

  private WakeUpBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "wake-up", "How long a fiber of an idle thread takes to run once another wakes it.")
        .metrics(MEDIAN, P99)
        .contestant("Weft", ForkedWindows.of(OfWeft.class))
        .contestant("platform thread", ForkedWindows.of(OfThread.class))
        .contestant("virtual thread", ForkedWindows.of(OfVirtualThread.class))
        .bar(Bar.atMost(MEDIAN, 1.2, "platform thread"))
        .build();
  }

  /** Wakes a suspended fiber. */
  public static final class OfWeft extends Sleeper {
    private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
    private final Fiber<?> fiber = scheduler.go(this::wakeAndSleep);

    @Override
    void sleep() {
      Fiber.suspend();
    }

    @Override
    void wake() {
      scheduler.schedule(fiber);
    }
  }

  /** Wakes a parked platform thread. */
  public static final class OfThread extends OfParked {
    public OfThread() {
      super(Thread.ofPlatform().daemon());
    }
  }

  /** Wakes a parked virtual thread. */
  public static final class OfVirtualThread extends OfParked {
    public OfVirtualThread() {
      super(Thread.ofVirtual());
    }
  }

  /** Wakes a parked thread. */
  abstract static class OfParked extends Sleeper {
    private final Thread thread;

    OfParked(Thread.Builder builder) {
      thread = builder.start(this::wakeAndSleep);
    }

    @Override
    void sleep() {
      LockSupport.park(this);
    }

    @Override
    void wake() {
      LockSupport.unpark(thread);
    }
  }

  /** Wakes it again and again, after a pause in which its thread goes to sleep. */
  abstract static class Sleeper implements WindowProbe {
    private static final long PAUSE_NANOS = 200_000;

    /** Enough turns of the sleeper's loop to compile it: an interpreted frame is slow to thaw. */
    private static final int WARM_UPS = 150_000;

    private static final int WAKE_UPS = 1_000;

    private volatile long wokenAt;

    // negative until the sleeper has woken
    private volatile long latency;

    @Override
    public final Windows prepare(String parameter, boolean quick) {
      for (int i = 0; i < WARM_UPS; i++) {
        wakeOnce();
      }
      return this::measure;
    }

    private Map<String, Double> measure() {
      Samples micros = new Samples(WAKE_UPS);
      for (int i = 0; i < WAKE_UPS; i++) {
        LockSupport.parkNanos(PAUSE_NANOS);
        wakeOnce();
        micros.add(latency / 1e3);
      }
      return Map.of(MEDIAN.name(), micros.median(), P99.name(), micros.percentile(99));
    }

    /** The waker stays awake, so that the pause before the next time is the same for all. */
    private void wakeOnce() {
      latency = -1;
      wokenAt = System.nanoTime();
      wake();
      while (latency < 0) {
        Thread.onSpinWait();
      }
    }

    final void wakeAndSleep() {
      while (true) {
        sleep();
        latency = System.nanoTime() - wokenAt;
      }
    }

    abstract void sleep();

    abstract void wake();
  }
}
