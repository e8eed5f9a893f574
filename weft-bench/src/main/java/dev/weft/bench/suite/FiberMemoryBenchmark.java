package dev.weft.bench.suite;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.run.ForkedProbe;
import java.time.Duration;

/** The heap that a million sleeping fibers take, in a JVM that has 2 GB. */
public final class FiberMemoryBenchmark {
  private static final String LIMIT = "-Xmx2g";
  private static final Duration LONG = Duration.ofHours(1);

  private FiberMemoryBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "fiber-memory", "The heap that a fiber takes while it sleeps, all within 2 GB.")
        .parameter("sleeping", 1_000_000)
        .metrics(ParkedMemoryBenchmark.HEAP)
        .contestant("Weft", ForkedProbe.of(OfWeft.class, LIMIT))
        .contestant("virtual thread", ForkedProbe.of(OfVirtualThreads.class, LIMIT))
        .bar(Bar.completes(ParkedMemoryBenchmark.HEAP, "Weft"))
        .bar(Bar.atMost(ParkedMemoryBenchmark.HEAP, 1.3, "virtual thread"))
        .build();
  }

  /** Puts fibers to sleep. */
  public static final class OfWeft extends ParkedMemoryBenchmark.Parked {
    private final Scheduler scheduler = Scheduler.builder().build().start();

    @Override
    Object park() {
      return scheduler.go(this::outer);
    }

    @Override
    void suspend() {
      try {
        Fiber.sleep(LONG);
      } catch (InterruptedException e) {
        throw new IllegalStateException("no code interrupts this fiber", e);
      }
    }

    @Override
    void awaitParked(Object[] fibers) throws InterruptedException {
      for (Object fiber : fibers) {
        awaitState(((Fiber<?>) fiber).thread(), Thread.State.WAITING);
      }
    }
  }

  /** Puts virtual threads to sleep. */
  public static final class OfVirtualThreads extends ParkedMemoryBenchmark.Parked {
    @Override
    Object park() {
      return Thread.startVirtualThread(this::outer);
    }

    @Override
    void suspend() {
      try {
        Thread.sleep(LONG);
      } catch (InterruptedException e) {
        throw new IllegalStateException("no code interrupts this thread", e);
      }
    }

    @Override
    void awaitParked(Object[] threads) throws InterruptedException {
      for (Object thread : threads) {
        awaitState((Thread) thread, Thread.State.TIMED_WAITING);
      }
    }
  }
}
