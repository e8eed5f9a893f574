package dev.weft.bench.suite;

import dev.weft.Fiber;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.BatchMethod;
import dev.weft.bench.run.Carriers;
import java.util.Collections;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;

/** One yield of one of a thousand fibers that share a thread and do nothing else. */
public class YieldBenchmark {
  private static final int FIBERS = 1_000;
  private static final int YIELDS = 1_000;

  static Comparison comparison() {
    return Comparison.named("yield", "What a yield costs among 1,000 fibers on one thread.")
        .contestant("Weft", new BatchMethod(YieldBenchmark.class, "weft"))
        .contestant(
            "virtual threads",
            new BatchMethod(YieldBenchmark.class, "virtualThreads", Carriers.of(1)))
        .bar(Bar.atMost(Metric.TIME, 1, "virtual threads"))
        .build();
  }

  /** With fibers of a scheduler that has one thread. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * YIELDS)
  public void weft(Workers.One of) throws InterruptedException {
    Crew.fibersOf(of.scheduler).run(Collections.nCopies(FIBERS, YieldBenchmark::yieldOfWeft));
  }

  private static void yieldOfWeft() {
    for (int i = 0; i < YIELDS; i++) {
      Fiber.yield();
    }
  }

  /** With virtual threads on the JDK's scheduler, which has one thread too. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * YIELDS)
  public void virtualThreads() throws InterruptedException {
    Crew.virtualThreads().run(Collections.nCopies(FIBERS, YieldBenchmark::yieldOfJdk));
  }

  private static void yieldOfJdk() {
    for (int i = 0; i < YIELDS; i++) {
      Thread.yield();
    }
  }
}
