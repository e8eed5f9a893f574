package dev.weft.bench.im;

import java.util.Formatter;
import java.util.List;
import java.util.Locale;

/** The 99 % latency of each second as an SVG: a line over time, and the phases below it. */
final class LoadPicture {
  private static final int WIDTH = 1120;
  private static final int HEIGHT = 360;
  private static final int LEFT = 70;
  private static final int TOP = 50;
  private static final int BOTTOM = 290;
  private static final double LEAST_MILLIS = 0.1;
  private static final double MOST_MILLIS = 10_000;

  private LoadPicture() {}

  static String of(String title, List<Phase> phases) {
    int seconds = Math.max(1, phases.stream().mapToInt(phase -> phase.seconds().size()).sum());
    double step = (double) (WIDTH - LEFT - 20) / seconds;
    StringBuilder body = new StringBuilder();
    // the root locale: a decimal comma would break the picture
    Formatter shapes = new Formatter(body, Locale.ROOT);
    for (double millis = LEAST_MILLIS; millis <= MOST_MILLIS; millis *= 10) {
      shapes.format(
          "<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' stroke='#dde3ea'/>%n",
          LEFT, y(millis), WIDTH - 20, y(millis));
      shapes.format(
          "<text x='%d' y='%.1f' text-anchor='end'>%s ms</text>%n",
          LEFT - 8, y(millis) + 4, millis < 1 ? "0.1" : String.valueOf(Math.round(millis)));
    }
    double x = LEFT;
    for (Phase phase : phases) {
      StringBuilder points = new StringBuilder();
      double from = x;
      for (double millis : phase.seconds()) {
        points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x + step / 2, y(millis)));
        x += step;
      }
      shapes.format(
          "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='#9aa5b1' stroke-dasharray='3'/>%n",
          x, TOP, x, BOTTOM + 30);
      shapes.format(
          "<polyline points='%s' fill='none' stroke='#466bd8' stroke-width='2'/>%n", points);
      shapes.format("<text x='%.1f' y='%d'>%s</text>%n", from + 4, BOTTOM + 22, phase.name());
      shapes.format(
          "<text x='%.1f' y='%d' fill='#616e7c'>99 %%: %.1f ms</text>%n",
          from + 4, BOTTOM + 40, phase.millis(99));
    }
    return String.format(
        Locale.ROOT,
        """
        <svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %1$d %2$d' width='%1$d' height='%2$d'
            font-family="Inter, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif" font-size='12'>
        <title>%3$s</title>
        <rect width='100%%' height='100%%' fill='#ffffff'/>
        <text x='%4$d' y='28' font-size='15'>%3$s</text>
        %5$s</svg>
        """,
        WIDTH,
        HEIGHT,
        title,
        LEFT,
        body);
  }

  /** The scale is logarithmic. */
  private static double y(double millis) {
    double shown = Math.clamp(millis, LEAST_MILLIS, MOST_MILLIS);
    double part = Math.log10(shown / LEAST_MILLIS) / Math.log10(MOST_MILLIS / LEAST_MILLIS);
    return BOTTOM - part * (BOTTOM - TOP);
  }
}
