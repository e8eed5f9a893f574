package dev.weft.bench.report;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Run;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Comparisons with made-up numbers. */
final class Examples {
  static final Environment ENVIRONMENT =
      new Environment(
          "2026-01-31",
          "1234567",
          "25 <test>",
          "Linux",
          "Z80",
          2,
          List.of(),
          List.of(),
          "./weft bench",
          2,
          false);

  private Examples() {}

  /** Weft against two peers, of which the bar against the first is 1.15. */
  static Comparison comparison() {
    return Comparison.named("switch", "What a switch costs & shows.")
        .parameter("depth", 1, 100_000)
        .contestant("Weft", Examples::never)
        .contestant("raw", Examples::never)
        .contestant("thread", Examples::never)
        .bar(Bar.atMost(Metric.TIME, 1.15, "raw"))
        .build();
  }

  /** Two rounds: the second one on a machine that is ten times slower. */
  static List<Run> runs() {
    List<Run> runs = new ArrayList<>();
    runs.addAll(round(1, "1", 110, 100, 5_000));
    runs.addAll(round(2, "1", 1_060, 1_000, 50_000));
    runs.addAll(round(1, "100000", 300, 200, 9_000));
    runs.addAll(round(2, "100000", 300, 200, 9_000));
    return runs;
  }

  static List<Run> round(int round, String parameter, double weft, double raw, double thread) {
    return List.of(
        run(round, parameter, "Weft", weft),
        run(round, parameter, "raw", raw),
        run(round, parameter, "thread", thread));
  }

  static Run run(int round, String parameter, String contestant, double... readings) {
    List<Double> values = Arrays.stream(readings).boxed().toList();
    return new Run(
        round, parameter, contestant, new Outcome.Readings(Map.of(Metric.TIME.name(), values)));
  }

  private static Outcome never(Object trial) {
    throw new AssertionError("not to be run: " + trial);
  }
}
