package dev.weft.bench.suite;

import dev.weft.Fiber;
import dev.weft.Policy;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.BatchMethod;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;

/** A main fiber starts a million fibers with empty bodies, then joins them all; per fiber. */
public class SpawnBenchmark {
  private static final int FIBERS = 1_000_000;

  /** Two threads for each contestant, on a machine with more cores too. */
  private static final String TWO_CORES = "-XX:ActiveProcessorCount=2";

  static Comparison comparison() {
    return Go.withBar(
            ChannelBenchmark.policies(
                    Comparison.named(
                        "spawn", "What it costs to start and join a fiber, of 1,000,000."),
                    new BatchMethod(SpawnBenchmark.class, "weft", TWO_CORES),
                    new BatchMethod(SpawnBenchmark.class, "fifo", TWO_CORES))
                .contestant(
                    "virtual threads",
                    new BatchMethod(SpawnBenchmark.class, "virtualThreads", TWO_CORES)),
            "spawn",
            1)
        .bar(Bar.atMost(Metric.TIME, 0.8, "virtual threads"))
        .build();
  }

  /** With fibers of Weft's default scheduler. */
  @Benchmark
  @OperationsPerInvocation(FIBERS)
  public void weft() {
    Weft.run(SpawnBenchmark::spawnOfWeft);
  }

  /** With fibers that go to the threads in turn. */
  @Benchmark
  @OperationsPerInvocation(FIBERS)
  public void fifo() {
    Scheduler scheduler = Scheduler.builder().useCaller(true).policy(Policy.fifo()).build();
    scheduler.go(SpawnBenchmark::spawnOfWeft);
    scheduler.start();
    scheduler.stop();
  }

  private static void spawnOfWeft() throws InterruptedException {
    Fiber<?>[] fibers = new Fiber<?>[FIBERS];
    for (int i = 0; i < FIBERS; i++) {
      fibers[i] = Weft.go(() -> {});
    }
    for (Fiber<?> fiber : fibers) {
      fiber.join();
    }
  }

  /** With virtual threads that a virtual thread starts. */
  @Benchmark
  @OperationsPerInvocation(FIBERS)
  public void virtualThreads() throws InterruptedException {
    Thread.startVirtualThread(SpawnBenchmark::spawnOfJdk).join();
  }

  private static void spawnOfJdk() {
    Thread[] threads = new Thread[FIBERS];
    for (int i = 0; i < FIBERS; i++) {
      threads[i] = Thread.startVirtualThread(() -> {});
    }
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("no code interrupts this thread", e);
    }
  }
}
