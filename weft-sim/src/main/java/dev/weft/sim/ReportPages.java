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
      :root { color-scheme: light dark; --ink: #222; --faint: #666; --paper: #fff; --code: #f6f6f6;
              --line: #e4e4e4; --lane: #ccc; --on: #e8f1fb; --mark: #06c }
      @media (prefers-color-scheme: dark) {
        :root { --ink: #ddd; --faint: #999; --paper: #181818; --code: #242424;
                --line: #333; --lane: #444; --on: #16324f; --mark: #4a9eff } }
      body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; color: var(--ink);
             background: var(--paper) }
      h1 { font-size: 1.3em } h1, code { overflow-wrap: anywhere }
      pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--code);
            padding: .7em; max-width: 100ch }
      table { border-collapse: collapse }
      th { position: sticky; top: 0; background: var(--paper); font-weight: 600 }
      th, td { text-align: left; padding: .25em .8em; border-bottom: 1px solid var(--line);
               vertical-align: top }
      .lane { border-left: 2px solid var(--lane); min-width: 8em }
      .on { background: var(--on); border-left-color: var(--mark) }
      .n, .t { text-align: right; color: var(--faint); white-space: nowrap;
               font-variant-numeric: tabular-nums }
      .place { color: var(--faint); font-size: .9em; display: block; overflow-wrap: anywhere }
      @media (max-width: 700px) { /* no room for lanes: each event names its fiber */
        body { margin: 1em } thead, td.lane { display: none }
        table, tbody { display: block }
        tr { display: grid; grid-template-columns: 2.5em 7em 1fr; margin-bottom: .6em }
        td { border-bottom: none; padding: .1em .5em }
        td.on { display: block; grid-column: 1 / -1; overflow-wrap: anywhere }
        tr::after { content: attr(data-fiber); order: -1; grid-column: 3; grid-row: 1;
                    font-weight: 600; padding: .1em .5em; overflow-wrap: anywhere } }
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
          "<tr data-fiber=\"%s\"><td class=n>%d<td class=t>%s ms"
              .formatted(
                  escape(fibers.get(event.fiber())),
                  ++number,
                  String.format(Locale.ROOT, "%.3f", event.nanos() / 1e6)));
      for (int fiber = 0; fiber < fibers.size(); fiber++) {
        rows.append(
            fiber == event.fiber()
                ? "<td class='lane on'>%s<span class=place>%s</span>"
                    .formatted(escape(event.what()), escape(event.place()))
                : "<td class=lane>");
      }
      rows.append('\n');
    }
    String lanes =
        fibers.stream().map(name -> "<th class=lane>" + escape(name)).collect(Collectors.joining());
    return """
        <!doctype html>
        <html lang=en><meta charset=utf-8>
        <meta name=viewport content="width=device-width, initial-scale=1">
        <title>%s fails with seed %d</title>
        <style>
        %s</style>
        <h1>%s fails with seed %d</h1>
        <pre>%s</pre>
        <p>%d switch%s, shrunk from %d. Replay: <code>%s</code></p>
        %s        <table><thead><tr><th class=n>#<th class=t>time%s</thead><tbody>
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
            report.schedule().switches().size() == 1 ? "" : "es",
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
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
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
