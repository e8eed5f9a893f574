package dev.weft.bench.suite;

import dev.weft.Coroutine;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.JmhMethod;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;
import org.openjdk.jmh.annotations.Benchmark;

/** A whole life: a coroutine with an empty body is created, runs and ends. */
public class CreateBenchmark {
  private static final ContinuationScope SCOPE = new ContinuationScope("raw");

  static Comparison comparison() {
    return Comparison.named(
            "create", "What it costs to create a coroutine, run its empty body and see it end.")
        .contestant("Weft", new JmhMethod(CreateBenchmark.class, "weft"))
        .contestant("raw continuation", new JmhMethod(CreateBenchmark.class, "raw"))
        .bar(Bar.atMost(Metric.TIME, 3, "raw continuation"))
        .build();
  }

  /** With a Weft coroutine. */
  @Benchmark
  public Object weft() {
    Coroutine coroutine = Coroutine.of(() -> {});
    coroutine.resume();
    return coroutine;
  }

  /** With the JDK's continuation. */
  @Benchmark
  public Object raw() {
    Continuation continuation = new Continuation(SCOPE, () -> {});
    continuation.run();
    return continuation;
  }
}
