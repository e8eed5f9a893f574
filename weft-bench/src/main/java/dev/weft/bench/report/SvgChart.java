package dev.weft.bench.report;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.report.Summary.Row;
import dev.weft.bench.report.Summary.Verdict;
import java.util.List;

/**
 * A summary as a picture: a group of horizontal bars for each parameter value, Weft's in colour,
 * whiskers from the best to the worst round, and a dashed line where Weft's bar has to end.
 */
public final class SvgChart {
  private static final int WIDTH = 960;
  private static final int MARGIN = 24;
  private static final int BAR = 20;
  private static final double STEP = 27;

  /** The room right of the bars, for ratios and verdicts. */
  private static final int REMARKS = 210;

  /** The room between the longest bar and the remarks, for its number. */
  private static final int NUMBERS = 100;

  /** A bar that is so many times longer than Weft's is cut off: Weft's would be a dot. */
  private static final double CUT = 5;

  private static final String WEFT = "#0f766e";
  private static final String PEER = "#b8c2cc";
  private static final String INK = "#52606d";
  private static final String GRID = "#e4e7eb";
  private static final String LIMIT = "#c2410c";
  private static final String SMALL = "font-size:12px;fill:" + INK;
  private static final String BOLD = "font-weight:600";

  private final Summary summary;
  private final Svg svg = new Svg();

  // where the bars start, and where the longest one ends
  private final double left;
  private final double right = WIDTH - MARGIN - REMARKS - NUMBERS;

  // the number at the right end
  private double scale;

  // how far down the picture has been drawn
  private double y = MARGIN;

  private SvgChart(Summary summary) {
    this.summary = summary;
    this.left =
        MARGIN
            + 12
            + summary.comparison().contestants().stream()
                .mapToDouble(contestant -> Svg.width(contestant.name()))
                .max()
                .orElseThrow();
  }

  /** Renders an SVG document; it needs no font and no graphics environment. */
  public static String render(Summary summary, Environment environment) {
    return new SvgChart(summary).draw(environment);
  }

  private String draw(Environment environment) {
    Comparison comparison = summary.comparison();
    svg.text(
        MARGIN, y + 14, "font-size:19px;font-weight:600", "Weft benchmark: " + comparison.name());
    svg.text(MARGIN, y + 36, "font-size:14px", comparison.shows());
    svg.text(MARGIN, y + 55, "font-size:11px;fill:" + INK, environment.line());
    y += 72;
    for (Metric metric : comparison.metrics()) {
      panel(metric);
    }
    String legend = "Bars: " + environment.method() + ". Whiskers: best and worst round.";
    svg.text(MARGIN, y, "font-size:11px;fill:" + INK, legend);
    return svg.render(WIDTH, y + 18, comparison.name() + ": " + comparison.shows());
  }

  private void panel(Metric metric) {
    List<Row> rows = summary.rows().stream().filter(row -> row.metric().equals(metric)).toList();
    scale = scaleOf(rows);
    svg.text(MARGIN, y + 12, BOLD, metric.name() + ", " + metric.describe());
    svg.text(WIDTH - MARGIN - REMARKS, y + 12, SMALL, summary.comparison().ratio());
    svg.text(WIDTH - MARGIN - REMARKS + 74, y + 12, SMALL, "bar (dashed)");
    y += 24;
    double top = y;
    double height = heightOf(rows);
    grid(top, height);
    String parameter = null;
    for (Row row : rows) {
      if (!row.parameter().equals(parameter)) {
        parameter = row.parameter();
        String label = summary.comparison().parameter().label(parameter);
        if (!label.isEmpty()) {
          svg.text(MARGIN, y + 16, SMALL, label);
          y += 22;
        }
      }
      row(row, rows);
      y += STEP;
    }
    y = top + height + 34;
  }

  private double heightOf(List<Row> rows) {
    long groups = rows.stream().map(Row::parameter).distinct().count();
    boolean labelled = !summary.comparison().parameter().name().isEmpty();
    return rows.size() * STEP + (labelled ? groups * 22 : 0);
  }

  /** The longest number in the panel, but not so long that Weft's bars become dots. */
  private double scaleOf(List<Row> rows) {
    double longest = 0;
    double longestOfWeft = 0;
    for (Row row : rows) {
      if (row.value() != null) {
        longest = Math.max(longest, row.value().max());
        if (isWeft(row)) {
          longestOfWeft = Math.max(longestOfWeft, row.value().max());
        }
      }
    }
    double most = longestOfWeft > 0 ? Math.min(longest, CUT * longestOfWeft) : longest;
    return most > 0 ? most : 1;
  }

  private void grid(double top, double height) {
    double tick = Ticks.size(scale);
    for (double number = 0; number <= scale; number += tick) {
      svg.line(x(number), top, x(number), top + height, GRID, "");
      String label = Numbers.tick(number);
      svg.text(
          x(number) - Svg.width(label) / 2.4,
          top + height + 15,
          "font-size:11px;fill:" + INK,
          label);
    }
  }

  private void row(Row row, List<Row> rows) {
    svg.text(MARGIN, y + 15, isWeft(row) ? BOLD : "", row.contestant());
    Spread value = row.value();
    if (value == null) {
      svg.text(left + 6, y + 15, "fill:" + LIMIT, String.valueOf(row.failure()));
    } else {
      svg.rect(left, y, x(value.median()) - left, BAR, isWeft(row) ? WEFT : PEER);
      double end = value.median() > scale ? cutEnd() : whiskers(value);
      if (isWeft(row)) {
        end = Math.max(end, limits(row.parameter(), rows));
      }
      svg.text(end + 8, y + 15, BOLD, Numbers.text(value.median()));
    }
    remark(row);
  }

  private double whiskers(Spread value) {
    double middle = y + BAR / 2.0;
    double from = x(value.min());
    double to = x(value.max());
    svg.line(from, middle, to, middle, INK, "");
    svg.line(from, middle - 4, from, middle + 4, INK, "");
    svg.line(to, middle - 4, to, middle + 4, INK, "");
    return to;
  }

  /** Draws the tear of a bar that goes on beyond the picture. */
  private double cutEnd() {
    for (int gap : new int[] {14, 22}) {
      svg.line(right - gap, y + BAR + 2, right - gap + 8, y - 2, "#ffffff", "stroke-width='3'");
    }
    return right;
  }

  /** Draws on Weft's row how long its bar may be, or has to be; returns where the last line is. */
  private double limits(String parameter, List<Row> rows) {
    double last = left;
    for (Row peer : rows) {
      Bar bar = peer.bar();
      if (bar == null
          || bar.kind() == Bar.Kind.COMPLETES
          || bar.kind() == Bar.Kind.NONE
          || peer.value() == null
          || !peer.parameter().equals(parameter)) {
        continue;
      }
      double unit = bar.kind() == Bar.Kind.WITHIN ? 1 : peer.value().median();
      double at = left + (right - left) * bar.limit() * unit / scale;
      if (at <= right + NUMBERS / 2.0) {
        svg.line(at, y - 3, at, y + BAR + 3, LIMIT, "stroke-width='2' stroke-dasharray='4 2'");
        last = Math.max(last, at);
      }
    }
    return last;
  }

  private void remark(Row row) {
    double at = WIDTH - MARGIN - REMARKS;
    if (row.ratio() != null) {
      svg.text(at, y + 15, BOLD, Numbers.text(row.ratio().median()) + " ×");
    }
    if (row.bar() != null) {
      boolean met = row.verdict() == Verdict.MET;
      String verdict = row.verdict() == null ? "" : row.verdict().word();
      svg.text(at + 74, y + 15, SMALL, row.bar().label());
      svg.text(at + 150, y + 15, BOLD + ";fill:" + (met ? WEFT : LIMIT), verdict);
    }
  }

  private boolean isWeft(Row row) {
    return row.contestant().equals(summary.comparison().subject());
  }

  private double x(double number) {
    return left + (right - left) * Math.min(number, scale) / scale;
  }
}
