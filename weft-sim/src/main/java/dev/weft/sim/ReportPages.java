package dev.weft.sim;

import dev.weft.sim.RunResult.TraceEvent;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** A {@link FailureReport} for programs, as JSON, and for people who would rather look, as HTML. */
final class ReportPages {
  private static final String STYLE =
      """
      body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; color: #222; background: #fff }
      h1 { font-size: 1.3em } pre { white-space: pre-wrap; background: #f6f6f6; padding: .7em }
      table { border-collapse: collapse } th { position: sticky; top: 0; background: #fff }
      th, td { text-align: left; padding: .25em .8em; border-bottom: 1px solid #e4e4e4;
               vertical-align: top }
      td.lane { border-left: 2px solid #ccc } td.on { background: #e8f1fb; border-left-color: #06c }
      td.n, td.t { text-align: right; color: #666; font-variant-numeric: tabular-nums }
      .place { color: #666; font-size: .9em; display: block }
      @media (prefers-color-scheme: dark) {
        body, th { background: #181818; color: #ddd } pre { background: #242424 }
        td.on { background: #16324f } th, td { border-bottom-color: #333 } }
      """;

  private ReportPages() {}

  static String json(FailureReport report) {
    String events =
        report.events().stream()
            .map(
                event ->
                    "    {\"nanos\": %d, \"fiber\": %d, \"what\": %s, \"place\": %s}"
                        .formatted(
                            event.nanos(),
                            event.fiber(),
                            quote(event.what()),
                            quote(event.place())))
            .collect(Collectors.joining(",\n"));
    return """
        {
          "name": %s,
          "seed": %d,
          "failure": %s,
          "switchesFound": %d,
          "schedule": %s,
          "faults": %s,
          "faultsInAll": %s,
          "fibers": [%s],
          "events": [
        %s
          ]
        }
        """
        .formatted(
            quote(report.name()),
            report.seed(),
            quote(report.message()),
            report.switchesFound(),
            quote(report.schedule().toString()),
            faults(report.faults()),
            faults(report.faultsInAll()),
            report.fibers().stream().map(ReportPages::quote).collect(Collectors.joining(", ")),
            events);
  }

  private static String faults(Map<Fault, Long> counts) {
    return counts.entrySet().stream()
        .map(entry -> quote(entry.getKey().name()) + ": " + entry.getValue())
        .collect(Collectors.joining(", ", "{", "}"));
  }

  static String html(FailureReport report) {
    List<String> fibers = report.fibers();
    StringBuilder rows = new StringBuilder();
    int number = 0;
    for (TraceEvent event : report.events()) {
      rows.append(
          "<tr><td class=n>%d<td class=t>%s ms"
              .formatted(++number, String.format(Locale.ROOT, "%.3f", event.nanos() / 1e6)));
      for (int fiber = 0; fiber < fibers.size(); fiber++) {
        rows.append(
            fiber == event.fiber()
                ? "<td class='lane on'>%s<span class=place>%s</span>"
                    .formatted(escape(event.what()), escape(event.place()))
                : "<td class=lane>");
      }
      rows.append('\n');
    }
    String lanes = fibers.stream().map(name -> "<th>" + escape(name)).collect(Collectors.joining());
    return """
        <!doctype html>
        <html lang=en><meta charset=utf-8>
        <meta name=viewport content="width=device-width, initial-scale=1">
        <title>%s fails with seed %d</title>
        <style>
        %s</style>
        <h1>%s fails with seed %d</h1>
        <pre>%s</pre>
        <p>%d switches, shrunk from %d. Replay: <code>%s</code></p>
        %s        <table><thead><tr><th>#<th>time%s</thead><tbody>
        %s</tbody></table>
        </html>
        """
        .formatted(
            escape(report.name()),
            report.seed(),
            STYLE,
            escape(report.name()),
            report.seed(),
            escape(report.message()),
            report.schedule().switches().size(),
            report.switchesFound(),
            escape(report.schedule().toString()),
            report.faultsInAll().isEmpty()
                ? ""
                : "<p>Faults: %s; in all seeds: %s</p>\n"
                    .formatted(
                        report.faults().isEmpty() ? "none" : Fault.describe(report.faults()),
                        Fault.describe(report.faultsInAll())),
            lanes,
            rows);
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  private static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"', '\\' -> quoted.append('\\').append(c);
        case '\n' -> quoted.append("\\n");
        default -> {
          if (c < ' ') {
            quoted.append(String.format("\\u%04x", (int) c));
          } else {
            quoted.append(c);
          }
        }
      }
    }
    return quoted.append('"').toString();
  }
}
