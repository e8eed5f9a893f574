package dev.weft.bench.echo;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.Carriers;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** How long clients of an echo server wait when other fibers of that server compute. */
public final class MixedBenchmark {
  static final Metric MEDIAN = new Metric("median latency", "ms", Metric.Better.LESS);
  static final Metric P99 = new Metric("99 % latency", "ms", Metric.Better.LESS);
  static final Metric UNANSWERED =
      new Metric("not answered within a second", "of some 40,000 requests", Metric.Better.LESS);
  static final Metric ANSWERED =
      new Metric("answered in time", "1,000 requests/s", Metric.Better.MORE);
  static final Metric COMPUTED =
      new Metric("computing", "ms of a core, a second", Metric.Better.MORE);

  private static final String WEFT = "Weft";
  private static final String GO = "Go";
  static final int THREADS = 2;

  private MixedBenchmark() {}

  /** Four fibers compute. */
  public static Comparison comparison() {
    return contestants(
            Comparison.named(
                "mixed", "What 20,000 echoes a second get of two threads on which fibers compute."),
            4,
            server -> server.with(List.of()))
        .metrics(MEDIAN, P99, UNANSWERED, ANSWERED, COMPUTED)
        .bar(Bar.within(MEDIAN, 5, WEFT))
        .bar(Bar.atMost(P99, 0.2, GO))
        .bar(Bar.none(UNANSWERED, WEFT))
        .bar(Bar.atLeast(ANSWERED, 0.99, GO))
        .bar(Bar.atLeast(COMPUTED, 0.9, GO))
        .build();
  }

  /** Nothing computes, and the load is a third of what this machine can do. */
  public static Comparison echoesAlone() {
    return contestants(
            Comparison.named(
                "mixed-alone",
                "Likewise, when no fiber computes beside them, at a third of saturation."),
            0,
            ThirdOfSaturation::new)
        .contestant("bare epoll", new ThirdOfSaturation(server(EchoServer.Kind.BARE_EPOLL)))
        .metrics(MEDIAN, P99, UNANSWERED, ANSWERED)
        .bar(Bar.atMost(P99, 1, GO))
        .bar(Bar.none(UNANSWERED, WEFT))
        .build();
  }

  /**
   * Adds the servers.
   *
   * @param paced makes a measurement of a server from what takes one more JVM flag
   */
  private static Comparison.Builder contestants(
      Comparison.Builder mixed, int computing, Function<Server, InTurns> paced) {
    Server virtualThreads = server(EchoServer.Kind.VIRTUAL_THREADS, Carriers.of(THREADS));
    return mixed
        .parameter("computing", computing)
        .contestant(WEFT, paced.apply(server(EchoServer.Kind.MIXED)))
        .contestant("Weft, not set apart", paced.apply(server(EchoServer.Kind.MIXED_TOGETHER)))
        .contestant("Weft, two schedulers", paced.apply(server(EchoServer.Kind.MIXED_APART)))
        .contestant("virtual threads", paced.apply(virtualThreads))
        .contestant(
            GO, paced.apply(flags -> new GoServerWindows(MixedProbe.class, THREADS, flags)));
  }

  private static Server server(EchoServer.Kind kind, String... flags) {
    return more -> {
      List<String> all = new ArrayList<>(List.of(flags));
      all.addAll(more);
      return EchoSetup.probe(MixedProbe.class, kind, THREADS, all.toArray(String[]::new));
    };
  }

  /** A server, as it is measured with more JVM flags. */
  @FunctionalInterface
  interface Server {
    /** Returns the measurement with these flags of the probe. */
    InTurns with(List<String> flags);
  }
}
