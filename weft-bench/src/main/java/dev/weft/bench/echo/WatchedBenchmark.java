package dev.weft.bench.echo;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedProbe;

/** What the console and {@code ./weft top} cost a server that is half loaded. */
public final class WatchedBenchmark {
  static final Metric COST =
      new Metric("CPU for console and top, of one core", "%", Metric.Better.LESS);
  static final Metric COST_OF_SERVER =
      new Metric("CPU for console and top, of what the server takes", "%", Metric.Better.LESS);
  static final Metric IDLE =
      new Metric("CPU of their threads when nobody looks", "%", Metric.Better.LESS);
  static final Metric LEFT =
      new Metric("CPU of the server when they have gone, beyond noise", "%", Metric.Better.LESS);
  static final Metric NOISE = new Metric("that noise", "%", Metric.Better.LESS);
  static final Metric SERVER =
      new Metric("CPU of the server without a console, of one core", "%", Metric.Better.LESS);

  private static final double MOST_PERCENT = 2;
  private static final double MOST_NOISE = 2;

  private WatchedBenchmark() {}

  /** One server, with and without watchers in turn: two servers differ by more than the cost. */
  public static Comparison comparison() {
    return Comparison.named(
            "watched",
            "What an open console and a running ./weft top cost an echo server at half of saturation, and what is left when they have gone.")
        .metrics(COST, COST_OF_SERVER, IDLE, LEFT, NOISE, SERVER)
        .contestant("Weft", ForkedProbe.of(WatchedProbe.class))
        .bar(Bar.within(COST, MOST_PERCENT, "Weft"))
        .bar(Bar.within(COST_OF_SERVER, MOST_PERCENT, "Weft"))
        .bar(Bar.within(IDLE, 0, "Weft"))
        .bar(Bar.within(LEFT, 0, "Weft"))
        .bar(Bar.within(NOISE, MOST_NOISE, "Weft"))
        .build();
  }
}
