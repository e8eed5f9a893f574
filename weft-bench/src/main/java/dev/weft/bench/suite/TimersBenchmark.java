package dev.weft.bench.suite;

import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.CpuClock;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.WindowProbe;
import dev.weft.time.Timer;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Timers that are set and cancelled before they fire, as most time limits are. */
public final class TimersBenchmark {
  private static final Metric ADD = new Metric("add", "ns", Metric.Better.LESS);
  private static final Metric CANCEL = new Metric("cancel", "ns", Metric.Better.LESS);
  private static final Metric BOTH = new Metric("add + cancel", "ns", Metric.Better.LESS);
  private static final Metric CPU = new Metric("CPU of all threads", "ns", Metric.Better.LESS);
  private static final String STPE = "ScheduledThreadPoolExecutor";
  private static final String NETTY = "Netty HashedWheelTimer";

  /** So much room that no collection falls into the measurement: it would be most of the time. */
  private static final String[] HEAP = {"-Xms2g", "-Xmn1g", "-XX:+AlwaysPreTouch"};

  private TimersBenchmark() {}

  static Comparison comparison() {
    return Go.contestant(
            Comparison.named(
                    "timers",
                    "What it costs to set a timer and to cancel it, with so many pending.")
                .parameter("pending", 1_000_000)
                .metrics(ADD, CANCEL, BOTH, CPU)
                .contestant("Weft", ForkedWindows.of(OfWeft.class, HEAP))
                .contestant("Weft, in a fiber", ForkedWindows.of(OfWeftInFiber.class, HEAP))
                .contestant(STPE, ForkedWindows.of(OfExecutor.class, HEAP))
                .contestant(NETTY, ForkedWindows.of(OfNetty.class, HEAP)),
            "timers",
            Runtime.getRuntime().availableProcessors())
        .bar(Bar.atMost(BOTH, 0.2, STPE))
        .bar(Bar.atMost(BOTH, 1, NETTY))
        .build();
  }

  /** Calls Weft's timers from a plain thread. */
  public static class OfWeft extends Pending<Timer> {
    /** A fiber that does nothing but set timers for a second is no reason to warn. */
    final Scheduler scheduler =
        Scheduler.builder().blockedAfter(Duration.ofMinutes(1)).build().start();

    @Override
    Timer add(Duration delay) {
      return scheduler.timers().after(delay, () -> {});
    }

    @Override
    void cancel(Timer timer) {
      timer.cancel();
    }
  }

  /** Calls Weft's timers from a fiber of the scheduler. */
  public static final class OfWeftInFiber extends OfWeft {
    @Override
    public Windows prepare(String parameter, boolean quick) throws InterruptedException {
      Windows inFiber = scheduler.go(() -> super.prepare(parameter, quick)).join();
      return () -> scheduler.go(inFiber::next).join();
    }
  }

  /** Calls the JDK's executor, told to forget what is cancelled. */
  public static final class OfExecutor extends Pending<ScheduledFuture<?>> {
    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);

    public OfExecutor() {
      executor.setRemoveOnCancelPolicy(true);
    }

    @Override
    ScheduledFuture<?> add(Duration delay) {
      return executor.schedule(() -> {}, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    void cancel(ScheduledFuture<?> timer) {
      timer.cancel(false);
    }
  }

  /** Calls Netty's timer, which leaves the work to its own thread, at the next tick. */
  public static final class OfNetty extends Pending<Timeout> {
    private final HashedWheelTimer wheel = new HashedWheelTimer(1, TimeUnit.MILLISECONDS);

    @Override
    Timeout add(Duration delay) {
      return wheel.newTimeout(_ -> {}, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    void cancel(Timeout timer) {
      timer.cancel();
    }
  }

  /** Sets them all, then cancels them all, in the same order. */
  abstract static class Pending<T> implements WindowProbe {
    private static final int WARM_UPS = 20;
    private static final int PENDING_AT_WARM_UP = 50_000;

    @Override
    public Windows prepare(String parameter, boolean quick) throws InterruptedException {
      int count = Integer.parseInt(parameter);
      List<Duration> delays =
          new Random(42)
              .longs(count, 1_000_000_000L, 60_000_000_000L)
              .mapToObj(Duration::ofNanos)
              .toList();
      for (int i = 0; i < WARM_UPS; i++) {
        run(delays.subList(0, Math.min(count, PENDING_AT_WARM_UP)));
      }
      return () -> {
        System.gc();
        long cpu = CpuClock.nanos();
        Map<String, Double> numbers = new HashMap<>(run(delays));
        Thread.sleep(100); // Netty's thread and Go's remove cancelled timers later
        numbers.put(CPU.name(), (CpuClock.nanos() - cpu) / (double) count);
        return numbers;
      };
    }

    private Map<String, Double> run(List<Duration> delays) {
      List<T> pending = new ArrayList<>(delays.size());
      long start = System.nanoTime();
      for (Duration delay : delays) {
        pending.add(add(delay));
      }
      long middle = System.nanoTime();
      for (T timer : pending) {
        cancel(timer);
      }
      long end = System.nanoTime();
      double count = delays.size();
      return Map.of(
          ADD.name(),
          (middle - start) / count,
          CANCEL.name(),
          (end - middle) / count,
          BOTH.name(),
          (end - start) / count);
    }

    abstract T add(Duration delay);

    abstract void cancel(T timer);
  }
}
