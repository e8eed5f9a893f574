package dev.weft.cli;

import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The page of {@code ./weft report}: one file, without scripts, that can be mailed. */
final class ReportPage {
  private static final int ROWS = 40;
  private static final int SLICES = 25;
  private static final int LANE_WIDTH = 1000;
  private static final int LANE_HEIGHT = 18;

  /** Kinds of events, and what the page calls them. */
  private static final String[][] LABELS = {
    {"FiberStart", "fibers begun"},
    {"FiberEnd", "fibers ended"},
    {"FiberSlice", "slices recorded"},
    {"FiberWait", "waits recorded"},
    {"FiberPark", "waits in the JDK"},
    {"BlockingCall", "blocking calls"},
    {"WorkerBlocked", "threads held"},
    {"FibersStolen", "steals"}
  };

  private static final String STYLE =
      """
      :root { color-scheme: light dark; --line: #d8dce3; --soft: #667085; --bar: #3b6fd4; --hot: #c2410c; --bg: #fff; --card: #f6f7f9; }
      @media (prefers-color-scheme: dark) { :root { --line: #343a46; --soft: #98a2b3; --bar: #6d9bf1; --hot: #fb923c; --bg: #14171c; --card: #1c2027; } }
      body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 1100px; padding: 1rem; background: var(--bg); }
      h1 { font-size: 1.5rem; margin: .5rem 0 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
      p, .soft { color: var(--soft); margin: .2rem 0 .6rem; }
      .cards { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; }
      .cards div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .4rem .8rem; }
      .cards b { display: block; font-size: 1.2rem; font-variant-numeric: tabular-nums; }
      .scroll { overflow-x: auto; }
      table { border-collapse: collapse; width: 100%; } th { text-align: left; color: var(--soft); font-weight: 500; }
      th, td { border-bottom: 1px solid var(--line); padding: .3rem .5rem; vertical-align: top; }
      td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
      td.f { white-space: nowrap; }
      td.w { min-width: 16rem; overflow-wrap: anywhere; }
      .bar { display: block; height: 4px; border-radius: 2px; background: var(--bar); margin-top: 3px; }
      details summary { cursor: pointer; } pre { margin: .3rem 0; overflow-x: auto; font-size: 12.5px; background: var(--card); padding: .5rem; border-radius: 6px; }
      svg { width: 100%; height: auto; display: block; } svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
      .lane { fill: var(--card); } .slice { fill: var(--bar); } .held { fill: var(--hot); }
      """;

  private final Recorded recorded;
  private final StringBuilder out = new StringBuilder();

  ReportPage(Recorded recorded) {
    this.recorded = recorded;
  }

  String html() {
    String name = escape(recorded.file().getFileName().toString());
    out.append("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
        .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
        .append("<title>Fibers in ")
        .append(name)
        .append("</title><style>")
        .append(STYLE)
        .append("</style></head>\n<body><main>\n<h1>Fibers in ")
        .append(name)
        .append("</h1>\n");
    summary();
    lanes();
    ran();
    waited();
    slices();
    held();
    helpers();
    samples();
    out.append("</main></body></html>\n");
    return out.toString();
  }

  private void summary() {
    String begun =
        DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT)
            .withZone(ZoneOffset.UTC)
            .format(recorded.start());
    out.append("<p>")
        .append(begun)
        .append(" UTC, ")
        .append(time(recorded.length().toNanos()))
        .append(recorded.jvm().isEmpty() ? "" : ", " + escape(recorded.jvm()))
        .append("</p>\n<div class=\"cards\">");
    for (String[] label : LABELS) {
      Long count = recorded.counts().get(label[0]);
      if (count != null) {
        out.append("<div><b>%,d</b>%s</div>".formatted(count, label[1]));
      }
    }
    out.append("</div>\n");
    if (!recorded.hasWeftEvents()) {
      out.append(
          "<p>The recording has no event of Weft's. Record with <code>settings=weft.jfc</code>.</p>\n");
    }
  }

  /** Draws the longest slices of each thread over the time of the recording. */
  private void lanes() {
    Map<String, List<Recorded.Span>> byThread =
        recorded.slices().stream()
            .collect(
                Collectors.groupingBy(Recorded.Span::thread, TreeMap::new, Collectors.toList()));
    if (byThread.isEmpty()) {
      return;
    }
    double whole = Math.max(1, recorded.length().toNanos());
    int height = byThread.size() * (LANE_HEIGHT + 18) + 16;
    heading("Threads over time", "Recorded slices; a gap is short slices, or sleep.");
    out.append(
        "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"slices of each thread over time\">"
            .formatted(LANE_WIDTH, height));
    int y = 0;
    for (Map.Entry<String, List<Recorded.Span>> lane : byThread.entrySet()) {
      out.append("<text x=\"0\" y=\"%d\">%s</text>".formatted(y + 12, escape(lane.getKey())))
          .append(
              "<rect class=\"lane\" x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
                  .formatted(y + 16, LANE_WIDTH, LANE_HEIGHT));
      for (Recorded.Span slice : lane.getValue()) {
        out.append(
            "<rect class=\"slice\" x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\"><title>%s, %s</title></rect>"
                .formatted(
                    decimal(slice.start() / whole * LANE_WIDTH),
                    y + 16,
                    decimal(Math.max(.6, slice.nanos() / whole * LANE_WIDTH)),
                    LANE_HEIGHT,
                    escape(slice.fiber()),
                    time(slice.nanos())));
      }
      y += LANE_HEIGHT + 18;
    }
    out.append(
        "<text x=\"0\" y=\"%d\">0</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text></svg>\n"
            .formatted(y + 12, LANE_WIDTH, y + 12, time((long) whole)));
  }

  private void ran() {
    heading("What ran", "Recorded slices by the names of their fibers, numbers left out.");
    sums(recorded.ran(), "fiber", "slices", false);
  }

  private void waited() {
    heading(
        "What fibers waited for",
        "By thing and stack. Rates are limited, so long recordings are samples.");
    sums(recorded.waited(), "waited for", "waits", true);
  }

  private void helpers() {
    heading(
        "Calls that held helper threads",
        "At most %d %s held at one time by recorded calls."
            .formatted(
                recorded.mostHelpers(),
                recorded.mostHelpers() == 1 ? "helper was" : "helpers were"));
    sums(recorded.called(), "call", "calls", true);
  }

  private void sums(List<Recorded.Sum> sums, String what, String many, boolean stacks) {
    if (sums.isEmpty()) {
      none();
      return;
    }
    long most = Math.max(1, sums.getFirst().nanos);
    out.append("<div class=\"scroll\"><table><thead><tr><th>")
        .append(what)
        .append("</th><th class=\"n\">")
        .append(many)
        .append("</th><th class=\"n\">in all</th><th class=\"n\">longest</th>")
        .append(stacks ? "<th>fibers</th>" : "")
        .append("</tr></thead><tbody>\n");
    for (Recorded.Sum sum : sums.subList(0, Math.min(ROWS, sums.size()))) {
      out.append("<tr><td class=\"w\">");
      withStack(sum);
      out.append(
              "<span class=\"bar\" style=\"width:%s%%\"></span></td>"
                  .formatted(decimal(100.0 * sum.nanos / most)))
          .append(
              "<td class=\"n\">%,d</td><td class=\"n\">%s</td><td class=\"n\">%s</td>"
                  .formatted(sum.count, time(sum.nanos), time(sum.longest)));
      if (stacks) {
        out.append("<td class=\"f\">")
            .append(escape(String.join(", ", sum.fibers())))
            .append("</td>");
      }
      out.append("</tr>\n");
    }
    out.append("</tbody></table></div>\n");
    rest(sums.size() - ROWS);
  }

  private void slices() {
    heading("Hot slices", "The longest, with samples of what they did.");
    List<Recorded.Span> slices = recorded.slices();
    spans(slices.subList(0, Math.min(SLICES, slices.size())), "took", this::samplesOf);
  }

  private String samplesOf(Recorded.Span slice) {
    return recorded
        .samplesIn(slice)
        .limit(5)
        .map(entry -> "%d samples of\n%s".formatted(entry.getValue(), entry.getKey()))
        .collect(Collectors.joining("\n\n"));
  }

  private void held() {
    heading(
        "Threads that were held",
        "A fiber kept its thread for longer than the scheduler's limit, blockedAfter.");
    spans(recorded.held(), "by then for", Recorded.Span::stack);
  }

  private void spans(
      List<Recorded.Span> spans, String time, Function<Recorded.Span, String> details) {
    if (spans.isEmpty()) {
      none();
      return;
    }
    out.append("<div class=\"scroll\"><table><thead><tr><th>fiber</th><th>thread</th>")
        .append("<th class=\"n\">at</th><th class=\"n\">")
        .append(time)
        .append("</th></tr></thead><tbody>\n");
    for (Recorded.Span span : spans) {
      out.append("<tr><td class=\"w\">");
      withStack(span.fiber(), details.apply(span));
      out.append("</td><td>")
          .append(escape(span.thread()))
          .append(
              "</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n"
                  .formatted(time(span.start()), time(span.nanos())));
    }
    out.append("</tbody></table></div>\n");
  }

  private void samples() {
    heading("Code that ran", "Samples of the CPU inside fibers, by stack.");
    List<Recorded.Sum> sums = recorded.sampled();
    if (sums.isEmpty()) {
      none();
      return;
    }
    long all = sums.stream().mapToLong(sum -> sum.count).sum();
    out.append(
        "<div class=\"scroll\"><table><thead><tr><th>innermost frame</th><th class=\"n\">samples</th><th class=\"n\">share</th><th>fibers</th></tr></thead><tbody>\n");
    for (Recorded.Sum sum : sums.subList(0, Math.min(ROWS, sums.size()))) {
      out.append("<tr><td class=\"w\">");
      withStack(sum);
      out.append(
          "</td><td class=\"n\">%,d</td><td class=\"n\">%s %%</td><td>%s</td></tr>\n"
              .formatted(
                  sum.count,
                  decimal(100.0 * sum.count / all),
                  escape(String.join(", ", sum.fibers()))));
    }
    out.append("</tbody></table></div>\n");
    rest(sums.size() - ROWS);
  }

  // ---- parts ----

  private void heading(String title, String explanation) {
    out.append("<h2>").append(title).append("</h2><p>").append(explanation).append("</p>\n");
  }

  private void none() {
    out.append("<p>None recorded.</p>\n");
  }

  private void rest(int left) {
    if (left > 0) {
      out.append("<p>and %,d more</p>\n".formatted(left));
    }
  }

  private void withStack(Recorded.Sum sum) {
    String own = sum.ownFrame();
    if (own.isEmpty()) {
      withStack(sum.what, sum.stack);
      return;
    }
    out.append("<details><summary>")
        .append(escape(sum.what))
        .append(" <span class=\"soft\">")
        .append(escape(own))
        .append("</span></summary><pre>")
        .append(escape(sum.stack))
        .append("</pre></details>");
  }

  private void withStack(String what, String stack) {
    if (stack.isEmpty() || stack.equals(what)) {
      out.append(escape(what));
      return;
    }
    out.append("<details><summary>")
        .append(escape(what))
        .append("</summary><pre>")
        .append(escape(stack))
        .append("</pre></details>");
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  private static String decimal(double number) {
    return String.format(Locale.ROOT, "%.1f", number);
  }

  private static String time(long nanos) {
    Duration duration = Duration.ofNanos(nanos);
    if (duration.toMinutes() >= 2) {
      return "%d min %d s".formatted(duration.toMinutes(), duration.toSecondsPart());
    }
    if (nanos >= 10_000_000_000L) {
      return decimal(nanos / 1e9) + " s";
    }
    return nanos >= 10_000_000
        ? "%,d ms".formatted(nanos / 1_000_000)
        : decimal(nanos / 1e6) + " ms";
  }
}
