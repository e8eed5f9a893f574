package dev.weft.bench.report;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Contestant;
import dev.weft.bench.model.Metric;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Run;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of a comparison's runs: a row for each metric, parameter value and contestant.
 *
 * <p>The ratio Weft ÷ peer is taken within each round, where both ran one after the other, and only
 * then the median of the rounds: a slow minute of the machine cancels out. If they took turns it is
 * taken within each turn, and a slow second cancels out.
 */
public record Summary(Comparison comparison, List<Row> rows) {
  /** Stands where a contestant is not measured by a metric. */
  private static final String NOT_MEASURED = "—";

  /** Whether Weft kept a bar. */
  public enum Verdict {
    /** Weft kept it. */
    MET,
    /** Weft did not keep it. */
    MISSED,
    /** The peer gave no number to compare with. */
    UNKNOWN,
    /** The peer is not on this machine. */
    NOT_CHECKED;

    /** Returns the word for tables and pictures. */
    public String word() {
      return switch (this) {
        case MET -> "met";
        case MISSED, UNKNOWN -> name();
        case NOT_CHECKED -> "not checked";
      };
    }
  }

  /**
   * One contestant at one parameter value.
   *
   * @param value the contestant's numbers over the rounds; null if it never gave one
   * @param failure why a round gave no number; null if all did
   * @param ratio Weft ÷ this contestant, over the rounds; null on Weft's own row
   */
  public record Row(
      Metric metric,
      String parameter,
      String contestant,
      @Nullable Spread value,
      @Nullable String failure,
      @Nullable Spread ratio,
      @Nullable Bar bar,
      @Nullable Verdict verdict) {}

  /** Summarizes all runs. */
  public static Summary of(Comparison comparison, List<Run> runs) {
    List<Row> rows = new ArrayList<>();
    for (Metric metric : comparison.metrics()) {
      for (String value : comparison.parameter().values()) {
        List<Run> group = runs.stream().filter(run -> run.parameter().equals(value)).toList();
        for (Contestant contestant : comparison.contestants()) {
          rows.add(row(comparison, metric, value, contestant.name(), group));
        }
      }
    }
    return new Summary(comparison, rows);
  }

  /** Says whether every bar was kept that could be checked on this machine. */
  public boolean allMet() {
    return rows.stream()
        .map(Row::verdict)
        .allMatch(
            verdict -> verdict == null || verdict == Verdict.MET || verdict == Verdict.NOT_CHECKED);
  }

  /** Returns a line for each bar that these runs cannot judge, with the reason. */
  public List<String> unchecked() {
    List<String> lines = new ArrayList<>();
    for (Row row : rows) {
      if (row.bar() != null
          && (row.verdict() == Verdict.NOT_CHECKED || row.verdict() == Verdict.UNKNOWN)) {
        String of = comparison.name() + " " + comparison.parameter().label(row.parameter());
        lines.add(
            "%s, %s, %s %s: %s"
                .formatted(
                    of.strip(),
                    row.metric().name(),
                    row.contestant(),
                    row.bar().label(),
                    row.failure()));
      }
    }
    return lines;
  }

  private static Row row(
      Comparison comparison, Metric metric, String parameter, String contestant, List<Run> group) {
    Map<Integer, List<Double>> weft = byRound(metric, comparison.subject(), group);
    Map<Integer, List<Double>> own = byRound(metric, contestant, group);
    List<Double> ratios = new ArrayList<>();
    own.forEach(
        (round, readings) -> {
          if (weft.containsKey(round) && median(readings) != 0) {
            ratios.add(ratio(comparison, weft.get(round), readings));
          }
        });
    boolean isWeft = contestant.equals(comparison.subject());
    Spread ratio = isWeft || ratios.isEmpty() ? null : Spread.of(ratios);
    boolean weftFailed = failure(comparison.subject(), group) != null;
    Bar bar = bar(comparison, metric, contestant);
    Spread value =
        own.isEmpty() ? null : Spread.of(own.values().stream().map(Summary::median).toList());
    String failure = failure(contestant, group);
    if (failure == null && value == null) {
      failure = NOT_MEASURED;
    }
    return new Row(
        metric,
        parameter,
        contestant,
        value,
        failure,
        ratio,
        bar,
        bar == null ? null : judge(bar, own, ratio, weftFailed, isAbsent(contestant, group)));
  }

  private static Verdict judge(
      Bar bar,
      Map<Integer, List<Double>> own,
      @Nullable Spread ratio,
      boolean weftFailed,
      boolean absent) {
    if (weftFailed) {
      return Verdict.MISSED;
    }
    if (bar.kind() == Bar.Kind.COMPLETES) {
      return Verdict.MET;
    }
    List<Double> judged =
        switch (bar.kind()) {
          case WITHIN -> own.values().stream().map(Summary::median).toList();
          case NONE -> own.values().stream().flatMap(List::stream).toList();
          default -> ratio == null ? List.of() : List.of(ratio.median());
        };
    if (judged.isEmpty()) {
      return absent ? Verdict.NOT_CHECKED : Verdict.UNKNOWN;
    }
    return judged.stream().allMatch(bar::allows) ? Verdict.MET : Verdict.MISSED;
  }

  private static boolean isAbsent(String contestant, List<Run> group) {
    return group.stream()
        .filter(run -> run.contestant().equals(contestant))
        .anyMatch(run -> run.outcome() instanceof Outcome.Failure failed && failed.absent());
  }

  private static @Nullable Bar bar(Comparison comparison, Metric metric, String peer) {
    return comparison.bars().stream()
        .filter(bar -> bar.metric().equals(metric) && bar.peer().equals(peer))
        .findFirst()
        .orElse(null);
  }

  private static @Nullable String failure(String contestant, List<Run> group) {
    return group.stream()
        .filter(run -> run.contestant().equals(contestant))
        .map(run -> run.outcome() instanceof Outcome.Failure failed ? failed.reason() : null)
        .filter(reason -> reason != null)
        .findFirst()
        .orElse(null);
  }

  /** The readings of each round that gave some. */
  private static Map<Integer, List<Double>> byRound(
      Metric metric, String contestant, List<Run> group) {
    Map<Integer, List<Double>> values = new LinkedHashMap<>();
    for (Run run : group) {
      if (run.contestant().equals(contestant)
          && run.outcome() instanceof Outcome.Readings readings
          && readings.byMetric().containsKey(metric.name())) {
        values.put(run.round(), readings.byMetric().get(metric.name()));
      }
    }
    return values;
  }

  /** Weft ÷ peer in one round: of the medians, or the median over the turns if they took turns. */
  private static double ratio(Comparison comparison, List<Double> weft, List<Double> peer) {
    if (!comparison.inTurns()) {
      return median(weft) / median(peer);
    }
    List<Double> ofTurns = new ArrayList<>();
    for (int turn = 0; turn < weft.size(); turn++) {
      ofTurns.add(weft.get(turn) / peer.get(turn));
    }
    return median(ofTurns);
  }

  private static double median(List<Double> readings) {
    return Spread.of(readings).median();
  }
}
