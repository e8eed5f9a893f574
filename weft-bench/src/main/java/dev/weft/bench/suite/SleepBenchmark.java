package dev.weft.bench.suite;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.HookFlag;
import dev.weft.bench.run.WindowProbe;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** A hundred thousand fibers sleep at the same time, each ten times for 10 ms. */
public final class SleepBenchmark {
  private static final Metric WALL = new Metric("wall time", "ms", Metric.Better.LESS);
  private static final Metric CPU = new Metric("CPU time", "ms", Metric.Better.LESS);
  private static final String VIRTUAL_THREADS = "virtual threads";
  private static final int SLEEPERS = 100_000;
  private static final int TIMES = 10;
  private static final Duration NAP = Duration.ofMillis(10);

  private SleepBenchmark() {}

  static Comparison comparison() {
    return Go.contestant(
            Comparison.named(
                    "sleep",
                    "What it costs that 100,000 fibers sleep ten times for 10 ms, all at once.")
                .metrics(WALL, CPU)
                .contestant("Weft", ForkedWindows.of(OfFiberSleep.class))
                .contestant(VIRTUAL_THREADS, ForkedWindows.of(OfVirtualThreads.class)),
            "sleep",
            Runtime.getRuntime().availableProcessors())
        .bar(Bar.atMost(WALL, 0.7, VIRTUAL_THREADS))
        .bar(Bar.atMost(CPU, 0.7, VIRTUAL_THREADS))
        .build();
  }

  static Comparison hooked() {
    return Comparison.named("hook-sleep", "Likewise, if they do so by Thread.sleep.")
        .metrics(WALL, CPU)
        .contestant("Weft", ForkedWindows.of(OfThreadSleep.class))
        .contestant("Weft, hook off", ForkedWindows.of(OfThreadSleep.class, HookFlag.offAnd()))
        .contestant(VIRTUAL_THREADS, ForkedWindows.of(OfVirtualThreads.class))
        .bar(Bar.atMost(CPU, 0.7, VIRTUAL_THREADS))
        .build();
  }

  /** Fibers, by {@code Fiber.sleep}. */
  public static final class OfFiberSleep extends Sleepers {
    public OfFiberSleep() {
      super(Crew.fibersOf(Scheduler.builder().build().start()), () -> Fiber.sleep(NAP));
    }
  }

  /** Fibers, by {@code Thread.sleep}. */
  public static final class OfThreadSleep extends Sleepers {
    public OfThreadSleep() {
      super(Crew.fibersOf(Scheduler.builder().build().start()), () -> Thread.sleep(NAP));
      HookFlag.check();
    }
  }

  /** Virtual threads. */
  public static final class OfVirtualThreads extends Sleepers {
    public OfVirtualThreads() {
      super(Crew.virtualThreads(), () -> Thread.sleep(NAP));
    }
  }

  /** Lets all sleep: some times to warm up, then once a window. */
  abstract static class Sleepers implements WindowProbe {
    private static final int WARM_UPS = 10;

    private final Crew crew;
    private final List<Body> sleepers;

    Sleepers(Crew crew, Body nap) {
      this.crew = crew;
      sleepers =
          Collections.nCopies(
              SLEEPERS,
              () -> {
                for (int i = 0; i < TIMES; i++) {
                  nap.run();
                }
              });
    }

    @Override
    public final Windows prepare(String parameter, boolean quick) throws Exception {
      Timed.of(WARM_UPS, () -> crew.run(sleepers));
      return () -> {
        Timed timed = Timed.of(1, () -> crew.run(sleepers));
        return Map.of(WALL.name(), timed.wall() / 1e3, CPU.name(), timed.cpu() / 1e3);
      };
    }
  }
}
