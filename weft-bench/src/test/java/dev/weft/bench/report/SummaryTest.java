package dev.weft.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Run;
import dev.weft.bench.report.Summary.Row;
import dev.weft.bench.report.Summary.Verdict;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.WindowProbe;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class SummaryTest {
  @Test
  void ratiosAreTakenWithinARoundBeforeTheMedian() {
    Summary summary = Summary.of(Examples.comparison(), Examples.runs());

    Row raw = row(summary, "1", "raw");
    assertThat(raw.value()).isEqualTo(new Spread(100, 550, 1_000));
    // across rounds it would be anything from 0.11 to 10.6
    Spread ratio = Objects.requireNonNull(raw.ratio());
    assertThat(ratio.min()).isCloseTo(1.06, within(1e-9));
    assertThat(ratio.median()).isCloseTo(1.08, within(1e-9));
    assertThat(ratio.max()).isCloseTo(1.10, within(1e-9));
  }

  @Test
  void eachParameterValueIsJudgedByItself() {
    Summary summary = Summary.of(Examples.comparison(), Examples.runs());

    assertThat(row(summary, "1", "raw").verdict()).isEqualTo(Verdict.MET);
    assertThat(row(summary, "100000", "raw").verdict()).isEqualTo(Verdict.MISSED);
    assertThat(row(summary, "1", "thread").verdict()).isNull();
    assertThat(row(summary, "1", "Weft").ratio()).isNull();
    assertThat(summary.allMet()).isFalse();
  }

  @Test
  void aRoundCountsWithTheMedianOfItsReadings() {
    Summary summary =
        Summary.of(Examples.comparison(), List.of(Examples.run(1, "1", "Weft", 10, 900, 12)));

    assertThat(row(summary, "1", "Weft").value()).isEqualTo(new Spread(12, 12, 12));
  }

  @Test
  void ifTheyTookTurnsTheRatioIsTakenWithinATurn() {
    List<Run> runs =
        List.of(Examples.run(1, "", "Weft", 10, 200, 30), Examples.run(1, "", "peer", 5, 100, 60));

    Comparison inTurns =
        Comparison.named("turns", "Takes turns.")
            .contestant("Weft", ForkedWindows.of(WindowProbe.class))
            .contestant("peer", ForkedWindows.of(WindowProbe.class))
            .build();
    assertThat(row(Summary.of(inTurns, runs), "", "peer").ratio()).isEqualTo(new Spread(2, 2, 2));
    Comparison apart =
        Comparison.named("apart", "Runs one by one.")
            .contestant("Weft", trial -> new Outcome.Failure("unused"))
            .contestant("peer", trial -> new Outcome.Failure("unused"))
            .build();
    assertThat(row(Summary.of(apart, runs), "", "peer").ratio())
        .isEqualTo(new Spread(0.5, 0.5, 0.5));
  }

  @Test
  void atLeastIsForThroughput() {
    Metric speed = new Metric("throughput", "requests/s", Metric.Better.MORE);
    Bar bar = Bar.atLeast(speed, 0.9, "Go");

    assertThat(bar.allows(0.9)).isTrue();
    assertThat(bar.allows(0.89)).isFalse();
    assertThat(bar.label()).isEqualTo("≥ 0.90 ×");
  }

  @Test
  void aFailedPeerLeavesTheBarUnknownAndTheCheckFails() {
    List<Run> runs =
        List.of(
            Examples.run(1, "1", "Weft", 100),
            new Run(1, "1", "raw", new Outcome.Failure("OutOfMemoryError")));
    Row raw = row(Summary.of(Examples.comparison(), runs), "1", "raw");

    assertThat(raw.value()).isNull();
    assertThat(raw.failure()).isEqualTo("OutOfMemoryError");
    assertThat(raw.verdict()).isEqualTo(Verdict.UNKNOWN);
  }

  @Test
  void completesIsMissedIfWeftFailsInOneRoundOnly() {
    Comparison comparison =
        Comparison.named("memory", "Fits.")
            .contestant("Weft", trial -> new Outcome.Failure("unused"))
            .bar(Bar.completes(Metric.TIME, "Weft"))
            .build();
    Run good = Examples.run(1, "", "Weft", 100);
    Run bad = new Run(2, "", "Weft", new Outcome.Failure("OutOfMemoryError"));

    assertThat(Summary.of(comparison, List.of(good)).allMet()).isTrue();
    assertThat(Summary.of(comparison, List.of(good, bad)).allMet()).isFalse();
  }

  @Test
  void withinIsMissedIfOneRoundIsOver() {
    Comparison comparison =
        Comparison.named("idle", "Rests.")
            .contestant("Weft", trial -> new Outcome.Failure("unused"))
            .contestant("raw", trial -> new Outcome.Failure("unused"))
            .bar(Bar.within(Metric.TIME, 1, "Weft"))
            .build();
    Run good = Examples.run(1, "", "Weft", 1);
    Run bad = Examples.run(2, "", "Weft", 1.1);
    Run nothing = Examples.run(1, "", "raw", 0);

    assertThat(Summary.of(comparison, List.of(good)).allMet()).isTrue();
    assertThat(Summary.of(comparison, List.of(good, bad)).allMet()).isFalse();
    assertThat(row(Summary.of(comparison, List.of(good, nothing)), "", "raw").ratio()).isNull();
    assertThat(comparison.bars().getFirst().label()).isEqualTo("≤ 1 ns");
  }

  @Test
  void noneIsMissedIfOneReadingIsNotZero() {
    Comparison comparison =
        Comparison.named("mixed", "Answers.")
            .contestant("Weft", trial -> new Outcome.Failure("unused"))
            .bar(Bar.none(Metric.TIME, "Weft"))
            .build();
    Run good = Examples.run(1, "", "Weft", 0, 0, 0);
    Run bad = Examples.run(2, "", "Weft", 0, 1, 0);

    assertThat(Summary.of(comparison, List.of(good)).allMet()).isTrue();
    assertThat(Summary.of(comparison, List.of(good, bad)).allMet()).isFalse();
    assertThat(comparison.bars().getFirst().label()).isEqualTo("none");
  }

  @Test
  void aBarAgainstAPeerThatIsNotOnThisMachineIsNotChecked() {
    List<Run> runs =
        List.of(
            Examples.run(1, "1", "Weft", 100),
            new Run(1, "1", "raw", new Outcome.Failure("needs a moon", true)));

    Summary summary = Summary.of(Examples.comparison(), runs);

    assertThat(row(summary, "1", "raw").verdict()).isEqualTo(Verdict.NOT_CHECKED);
    assertThat(summary.unchecked())
        .contains("switch depth 1, time, raw ≤ 1.15 ×: needs a moon")
        .hasSize(2); // there are no runs at depth 100,000
  }

  private static Row row(Summary summary, String parameter, String contestant) {
    return summary.rows().stream()
        .filter(row -> row.parameter().equals(parameter) && row.contestant().equals(contestant))
        .findFirst()
        .orElseThrow();
  }
}
