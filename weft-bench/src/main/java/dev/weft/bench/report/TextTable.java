package dev.weft.bench.report;

import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.model.Parameter;
import dev.weft.bench.report.Summary.Row;
import java.util.ArrayList;
import java.util.List;

/** A summary as text, one table a metric. */
public final class TextTable {
  private TextTable() {}

  /** Renders the tables, each under a line that says what it shows. */
  public static String render(Summary summary) {
    Comparison comparison = summary.comparison();
    StringBuilder text = new StringBuilder();
    text.append(comparison.name()).append(": ").append(comparison.shows()).append('\n');
    for (Metric metric : comparison.metrics()) {
      text.append(metric.name()).append(" in ").append(metric.describe()).append('\n');
      append(text, lines(comparison, summary.rows(), metric));
    }
    return text.toString();
  }

  private static List<List<String>> lines(Comparison comparison, List<Row> rows, Metric metric) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(
        List.of(
            comparison.parameter().name(),
            "contestant",
            "median",
            "min–max",
            comparison.ratio(),
            "bar",
            ""));
    String parameter = "";
    for (Row row : rows) {
      if (row.metric().equals(metric)) {
        boolean again = row.parameter().equals(parameter);
        lines.add(line(row, again ? "" : Parameter.shown(row.parameter())));
        parameter = row.parameter();
      }
    }
    return lines;
  }

  private static List<String> line(Row row, String parameter) {
    return List.of(
        parameter,
        row.contestant(),
        row.value() == null ? String.valueOf(row.failure()) : Numbers.text(row.value().median()),
        row.value() == null ? "" : Numbers.range(row.value()),
        row.ratio() == null ? "" : Numbers.full(row.ratio()),
        row.bar() == null ? "" : row.bar().label(),
        verdict(row));
  }

  private static String verdict(Row row) {
    // a failure in some rounds only would otherwise hide behind the numbers of the others
    String failed = row.value() != null && row.failure() != null ? row.failure() : "";
    if (row.verdict() == null) {
      return failed;
    }
    return (row.verdict().word() + " " + failed).strip();
  }

  private static void append(StringBuilder text, List<List<String>> lines) {
    int columns = lines.getFirst().size();
    int[] widths = new int[columns];
    for (List<String> line : lines) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], line.get(i).length());
      }
    }
    for (List<String> line : lines) {
      StringBuilder row = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        if (widths[i] > 0) {
          row.append("  ").append(line.get(i)).repeat(' ', widths[i] - line.get(i).length());
        }
      }
      text.append(row.toString().stripTrailing()).append('\n');
    }
  }
}
