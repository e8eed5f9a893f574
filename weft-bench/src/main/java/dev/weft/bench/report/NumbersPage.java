package dev.weft.bench.report;

import com.google.gson.Gson;
import dev.weft.bench.model.Metric;
import dev.weft.bench.model.Parameter;
import dev.weft.bench.report.Summary.Row;
import dev.weft.bench.report.Summary.Verdict;
import java.util.List;

/** Results of many runs as one page of Markdown: what was missed first, then a table a metric. */
public final class NumbersPage {
  private static final String INTRODUCTION =
      """
      # Numbers

      Written by `./weft bench --page` from the results of the runs below; [how they are taken](benchmarks.md).
      Each is a ratio against a peer in the same run; a machine's absolute times say little about another's.

      """;

  private NumbersPage() {}

  /** What the page shows of a {@link JsonReport}. */
  private record Result(
      String name,
      String shows,
      Environment environment,
      Parameter parameter,
      List<Metric> metrics,
      List<Row> summary) {}

  /**
   * Renders the page.
   *
   * @param reports documents as {@link JsonReport} renders them
   */
  public static String render(List<String> reports) {
    Gson gson = new Gson();
    List<Result> results = reports.stream().map(json -> gson.fromJson(json, Result.class)).toList();
    StringBuilder page = new StringBuilder(INTRODUCTION);
    appendVerdicts(page, results);
    results.forEach(result -> append(page, result));
    return page.toString();
  }

  private static void appendVerdicts(StringBuilder page, List<Result> results) {
    List<Row> judged =
        results.stream()
            .flatMap(result -> result.summary().stream())
            .filter(row -> row.verdict() != null && row.verdict() != Verdict.NOT_CHECKED)
            .toList();
    long met = judged.stream().filter(row -> row.verdict() == Verdict.MET).count();
    page.append("%d of %d bars are met.".formatted(met, judged.size()));
    if (met < judged.size()) {
      page.append(" Those that are not:\n\n| | | against | got | bar |\n|---|---|---|---|---|\n");
    }
    for (Result result : results) {
      for (Row row : result.summary()) {
        if (judged.contains(row) && row.verdict() != Verdict.MET) {
          String link = "[%1$s](#%1$s)".formatted(result.name());
          String what = row.metric().name() + " " + result.parameter().label(row.parameter());
          appendLine(page, link, what.strip(), row.contestant(), judged(row), row.bar().label());
        }
      }
    }
    page.append('\n');
  }

  private static void append(StringBuilder page, Result result) {
    Environment environment = result.environment();
    page.append("## ").append(result.name()).append("\n\n").append(result.shows());
    page.append("\n`").append(environment.commandLine()).append("`, commit ");
    page.append(environment.code()).append(", ").append(environment.line());
    page.append(", [every reading](numbers/").append(result.name()).append(".json)\n\n");
    for (Metric metric : result.metrics()) {
      appendLine(
          page,
          result.parameter().name(),
          metric.name() + ", " + metric.describe(),
          "median",
          "min–max",
          "Weft ÷ it",
          "bar");
      page.append("|---|---|---|---|---|---|\n");
      String parameter = "";
      for (Row row : result.summary()) {
        if (row.metric().equals(metric)) {
          boolean again = row.parameter().equals(parameter);
          parameter = row.parameter();
          appendLine(
              page,
              again ? "" : Parameter.shown(parameter),
              row.contestant(),
              row.value() == null ? row.failure() : Numbers.text(row.value().median()),
              row.value() == null ? "" : Numbers.range(row.value()),
              ratio(row),
              bar(row));
        }
      }
      page.append('\n');
    }
    page.append("![").append(result.name()).append("](img/").append(result.name());
    page.append(".svg)\n\n");
  }

  private static String ratio(Row row) {
    return row.ratio() == null ? "" : Numbers.full(row.ratio());
  }

  /** The number that a bar judges. */
  private static String judged(Row row) {
    if (row.ratio() != null) {
      return ratio(row);
    }
    return row.value() == null ? String.valueOf(row.failure()) : Numbers.full(row.value());
  }

  private static String bar(Row row) {
    if (row.verdict() == null) {
      return "";
    }
    return row.bar().label()
        + switch (row.verdict()) {
          case MET -> " met";
          case MISSED, UNKNOWN -> " **missed**";
          case NOT_CHECKED -> " not checked";
        };
  }

  private static void appendLine(StringBuilder page, String... cells) {
    page.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }
}
