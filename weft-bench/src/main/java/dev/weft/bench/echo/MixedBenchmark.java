package dev.weft.bench.echo;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.Carriers;
import dev.weft.bench.run.GoBuild;

/** How long clients of an echo server wait when other fibers of that server compute. */
public final class MixedBenchmark {
  static final Metric MEDIAN = new Metric("median latency", "ms", Metric.Better.LESS);
  static final Metric P99 = new Metric("99 % latency", "ms", Metric.Better.LESS);
  static final Metric ANSWERED =
      new Metric("answered in time", "1,000 requests/s", Metric.Better.MORE);
  static final Metric COMPUTED =
      new Metric("computing", "ms of a core, a second", Metric.Better.MORE);

  private static final String WEFT = "Weft";
  private static final String GO = "Go";
  private static final int THREADS = 2;

  private MixedBenchmark() {}

  /** Four fibers compute. */
  public static Comparison comparison() {
    Comparison.Builder mixed =
        contestants(
                Comparison.named(
                    "mixed",
                    "What 20,000 echoes a second get of two threads on which fibers compute."),
                4)
            .metrics(MEDIAN, P99, ANSWERED, COMPUTED)
            .bar(Bar.within(MEDIAN, 5, WEFT));
    if (GoBuild.isPossible()) {
      mixed
          .bar(Bar.atMost(P99, 0.2, GO))
          .bar(Bar.atLeast(ANSWERED, 0.99, GO))
          .bar(Bar.atLeast(COMPUTED, 0.9, GO));
    }
    return mixed.build();
  }

  /** The same load, and nothing computes. */
  public static Comparison echoesAlone() {
    Comparison.Builder alone =
        contestants(
                Comparison.named("mixed-alone", "Likewise, when no fiber computes beside them."), 0)
            .metrics(MEDIAN, P99, ANSWERED);
    if (GoBuild.isPossible()) {
      alone.bar(Bar.atMost(P99, 1, GO));
    }
    return alone.build();
  }

  private static Comparison.Builder contestants(Comparison.Builder mixed, int computing) {
    return mixed
        .parameter("computing", computing)
        .contestant(WEFT, server(EchoServer.Kind.MIXED))
        .contestant("Weft, not set apart", server(EchoServer.Kind.MIXED_TOGETHER))
        .contestant("Weft, two schedulers", server(EchoServer.Kind.MIXED_APART))
        .contestant(
            "virtual threads", server(EchoServer.Kind.VIRTUAL_THREADS, Carriers.of(THREADS)))
        .contestant(GO, new GoServerWindows(MixedProbe.class, THREADS));
  }

  private static InTurns server(EchoServer.Kind kind, String... flags) {
    return EchoSetup.probe(MixedProbe.class, kind, THREADS, flags);
  }
}
