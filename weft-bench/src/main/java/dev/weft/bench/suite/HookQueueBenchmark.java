package dev.weft.bench.suite;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.BatchMethod;
import dev.weft.bench.run.Carriers;
import dev.weft.bench.run.HookFlag;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;

/**
 * Two fibers hand a value to and fro over the JDK's {@code SynchronousQueue}. The queue spins
 * before it parks, unless it sees in the JDK's own scheduler that the thread has other work.
 */
public class HookQueueBenchmark {
  private static final int TRIPS = 20_000;

  static Comparison comparison() {
    return Comparison.named(
            "hook-queue", "What a round trip over two SynchronousQueues costs on one thread.")
        .contestant("Weft", method("weft"))
        .contestant("Weft, hook off", method("weft", HookFlag.offAnd()))
        .contestant("virtual threads", method("virtualThreads", Carriers.of(1)))
        .bar(Bar.atMost(Metric.TIME, 1.1, "virtual threads"))
        .build();
  }

  private static BatchMethod method(String name, String... flags) {
    return new BatchMethod(HookQueueBenchmark.class, name, flags);
  }

  /** With fibers of a scheduler that has one thread. */
  @Benchmark
  @OperationsPerInvocation(TRIPS)
  public void weft(Workers.One of) throws InterruptedException {
    Crew.fibersOf(of.scheduler).run(PingPong.overQueues(TRIPS));
  }

  /** With virtual threads on the JDK's scheduler, which has one thread too. */
  @Benchmark
  @OperationsPerInvocation(TRIPS)
  public void virtualThreads() throws InterruptedException {
    Crew.virtualThreads().run(PingPong.overQueues(TRIPS));
  }
}
