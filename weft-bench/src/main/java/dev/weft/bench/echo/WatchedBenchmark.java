package dev.weft.bench.echo;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedProbe;

/** What the console and {@code ./weft top} cost a server that is half loaded. */
public final class WatchedBenchmark {
  static final Metric COST =
      new Metric("CPU for console and top, of one core", "%", Metric.Better.LESS);
  static final Metric LEFT =
      new Metric("CPU when they have gone, of one core", "%", Metric.Better.LESS);
  static final Metric SERVER =
      new Metric("CPU of the server, of one core", "%", Metric.Better.LESS);

  private static final double MOST_PERCENT = 2;

  private WatchedBenchmark() {}

  /** One server, with and without watchers in turn: two servers differ by more than the cost. */
  public static Comparison comparison() {
    return Comparison.named(
            "watched",
            "What an open console and a running ./weft top cost an echo server at half of saturation.")
        .metrics(COST, LEFT, SERVER)
        .contestant("Weft", ForkedProbe.of(WatchedProbe.class))
        .bar(Bar.within(COST, MOST_PERCENT, "Weft"))
        .build();
  }
}
