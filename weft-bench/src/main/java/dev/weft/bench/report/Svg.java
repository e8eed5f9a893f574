package dev.weft.bench.report;

import java.util.Formatter;
import java.util.Locale;

/** The few shapes that a chart needs, written as SVG. */
final class Svg {
  private final StringBuilder body = new StringBuilder();

  // the root locale: a decimal comma would break the picture
  private final Formatter shapes = new Formatter(body, Locale.ROOT);

  void rect(double x, double y, double width, double height, String fill) {
    shapes.format("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f'", x, y, width, height);
    shapes.format(" fill='%s'/>%n", fill);
  }

  void line(double x1, double y1, double x2, double y2, String stroke, String more) {
    shapes.format("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'", x1, y1, x2, y2);
    shapes.format(" stroke='%s' %s/>%n", stroke, more);
  }

  /** Writes text from x to the right, on the base line y. */
  void text(double x, double y, String style, String text) {
    shapes.format("<text x='%.1f' y='%.1f' style='%s'>%s</text>%n", x, y, style, escape(text));
  }

  /** Finishes the picture, on a white sheet. */
  String render(int width, double height, String title) {
    return String.format(
        Locale.ROOT,
        """
    <svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %1$d %2$.0f' width='%1$d' height='%2$.0f'
        font-family="Inter, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif" font-size='13' role='img'>
    <title>%3$s</title>
    <rect width='100%%' height='100%%' fill='#ffffff'/>
    <g fill='#1f2933'>
    %4$s</g>
    </svg>
    """,
        width,
        height,
        escape(title),
        body);
  }

  /** Guesses how wide a text of the default size is: the fonts are the viewer's. */
  static double width(String text) {
    return text.length() * 7.4;
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("'", "&apos;");
  }
}
