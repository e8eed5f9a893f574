package dev.weft.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Draws the screen of a terminal as SVG: lines of text, of which those that begin with the escape
 * sequence for it are inverse. Of other sequences there is none in {@code ./weft top}.
 */
final class TerminalSvg {
  private static final double CHARACTER = 7.2; // of a monospaced font of 12 pixels
  private static final int LINE = 16;
  private static final int MARGIN = 12;
  private static final String ESCAPE = "\u001b";
  private static final String INVERSE = ESCAPE + "[7m";

  private TerminalSvg() {}

  /** Draws lines; empty ones at the end, but for the last line of all, are left out. */
  static String of(List<String> screen, int columns) {
    List<String> lines = new ArrayList<>(screen);
    for (int i = lines.size() - 2; i > 0 && lines.get(i).isBlank(); i--) {
      lines.remove(i);
    }
    double width = columns * CHARACTER + 2 * MARGIN;
    int height = lines.size() * LINE + 2 * MARGIN;
    StringBuilder out =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                """
                <svg xmlns="http://www.w3.org/2000/svg" width="%1$.0f" height="%2$d" viewBox="0 0 %1$.0f %2$d">
                <style>text { white-space: pre }</style>
                <rect width="100%%" height="100%%" rx="8" fill="#10131a"/>
                <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="12" fill="#e7ebf3" xml:space="preserve">
                """,
                width,
                height));
    for (int i = 0; i < lines.size(); i++) {
      addLine(lines.get(i), MARGIN + i * LINE, out);
    }
    return out.append("</g>\n</svg>\n").toString();
  }

  private static void addLine(String line, int top, StringBuilder out) {
    boolean inverse = line.startsWith(INVERSE);
    String text = line.replaceAll(ESCAPE + "\\[[0-9;]*[a-zA-Z]", "").stripTrailing();
    if (text.contains(ESCAPE)) {
      throw new IllegalArgumentException("a sequence that is not known: " + line);
    }
    if (text.isEmpty()) {
      return;
    }
    double length = text.codePointCount(0, text.length()) * CHARACTER;
    if (inverse) {
      out.append(
          String.format(
              Locale.ROOT,
              "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#e7ebf3\"/>%n",
              MARGIN,
              top,
              length,
              LINE));
    }
    // textLength: the columns fit each other in whatever font there is
    out.append(
        String.format(
            Locale.ROOT,
            "<text x=\"%d\" y=\"%d\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\"%s>%s</text>%n",
            MARGIN,
            top + LINE - 4,
            length,
            inverse ? " fill=\"#10131a\"" : "",
            escaped(text)));
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
