package dev.weft.bench.suite;

import dev.weft.Body;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.Carriers;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.HookFlag;
import dev.weft.bench.run.WindowProbe;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * What the hook costs threads that do not use it: platform threads and plain virtual threads in a
 * JVM in which a scheduler has been started, with the hook in place and without.
 */
public final class HookOutsideBenchmark {
  private static final Metric TIME = new Metric("time of an operation", "µs", Metric.Better.LESS);
  private static final Metric CPU =
      new Metric("CPU time of an operation", "µs", Metric.Better.LESS);
  private static final String OFF = "hook off";
  private static final String PLATFORM = "platform";
  private static final String VIRTUAL = "virtual";
  private static final String SOCKETS = "sockets";
  private static final String QUEUES = "queues";
  private static final String SLEEP = "sleep";

  private HookOutsideBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "hook-outside", "What the hook costs threads that are not fibers: nothing.")
        .parameter(
            "threads × work",
            PLATFORM + " × " + SOCKETS,
            PLATFORM + " × " + QUEUES,
            PLATFORM + " × " + SLEEP,
            VIRTUAL + " × " + SOCKETS,
            VIRTUAL + " × " + QUEUES,
            VIRTUAL + " × " + SLEEP)
        .metrics(TIME, CPU)
        .contestant("hook in place", ForkedWindows.of(Outside.class, Carriers.of(1)))
        .contestant(OFF, ForkedWindows.of(Outside.class, HookFlag.offAnd(Carriers.of(1))))
        .bar(Bar.atMost(TIME, 1.03, OFF))
        .bar(Bar.atMost(CPU, 1.03, OFF))
        .build();
  }

  /** Does the same piece of work over and over; a scheduler has been started and is idle. */
  public static final class Outside implements WindowProbe {
    private static final Duration NAP = Duration.ofMillis(1);
    private static final int SLEEPERS = 100;
    private static final int NAPS = 20;
    private static final int TRIPS = 2_000;
    private static final int QUEUE_TRIPS = 10_000;
    private static final int QUEUE_TRIPS_ACROSS = 1_000; // each wakes a thread on another core
    private static final int RUNS = 5;

    private final Scheduler idle = Scheduler.builder().threads(1).build().start();

    @Override
    public Windows prepare(String parameter, boolean quick) throws Exception {
      idle.go(() -> {}).join();
      HookFlag.check();
      List<String> parts = List.of(parameter.split(" × ", -1));
      boolean platform = parts.getFirst().equals(PLATFORM);
      Crew crew = platform ? Crew.platformThreads() : Crew.virtualThreads();
      Work work = Work.named(parts.getLast(), platform ? QUEUE_TRIPS_ACROSS : QUEUE_TRIPS);
      Timed.of(quick ? 15 : 30, () -> crew.run(work.bodies));
      return () -> {
        Timed timed = Timed.of(RUNS, () -> crew.run(work.bodies));
        return Map.of(
            TIME.name(), timed.wall() / work.operations, CPU.name(), timed.cpu() / work.operations);
      };
    }

    /** So many operations, which take some hundredths of a second. */
    private record Work(int operations, List<Body> bodies) {
      static Work named(String name, int queueTrips) throws Exception {
        return switch (name) {
          case SOCKETS -> new Work(TRIPS, PingPong.overSockets(PingPong.Ends.connect(), TRIPS));
          case QUEUES -> new Work(queueTrips, PingPong.overQueues(queueTrips));
          case SLEEP -> new Work(SLEEPERS * NAPS, Collections.nCopies(SLEEPERS, Work::nap));
          default -> throw new IllegalArgumentException("there is no work " + name);
        };
      }

      private static void nap() throws InterruptedException {
        for (int i = 0; i < NAPS / 2; i++) {
          Thread.sleep(NAP);
          LockSupport.parkNanos(NAP.toNanos());
        }
      }
    }
  }
}
