package dev.weft.sim;

import dev.weft.sim.RunResult.TraceEvent;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What is known of a failing run: the interleaving, for people and as JSON and HTML. */
public final class FailureReport {
  /** How many lines of the interleaving the text has at most. */
  private static final int MOST_LINES = 100;

  private final String name;
  private final long seed;
  private final Throwable cause;
  private final int switchesFound;
  private final Schedule schedule;
  private final int shrinkRuns;
  private final long runs;
  private final long schedules;
  private final Map<Fault, Long> faultsInAll;
  private final Map<Fault, Long> faults;
  private final List<String> fibers;
  private final List<TraceEvent> events;

  FailureReport(
      String name,
      long seed,
      Throwable cause,
      int switchesFound,
      Schedule schedule,
      int shrinkRuns,
      long runs,
      long schedules,
      Map<Fault, Long> faultsInAll,
      Map<Fault, Long> faults,
      List<String> fibers,
      List<TraceEvent> events) {
    this.name = name;
    this.seed = seed;
    this.cause = cause;
    this.switchesFound = switchesFound;
    this.schedule = schedule;
    this.shrinkRuns = shrinkRuns;
    this.runs = runs;
    this.schedules = schedules;
    this.faultsInAll = faultsInAll;
    this.faults = faults;
    this.fibers = fibers;
    this.events = events;
  }

  /** Returns the seed that failed. */
  public long seed() {
    return seed;
  }

  /** Returns what the program failed with. */
  public Throwable cause() {
    return cause;
  }

  /** Returns the shrunk schedule, which replays the failure. */
  public Schedule schedule() {
    return schedule;
  }

  /** Returns how many switches the failing run had before it was shrunk. */
  public int switchesFound() {
    return switchesFound;
  }

  /** Returns the report as text, for a test. */
  public String text() {
    return text("@WeftSimulation(replay = \"%s\")");
  }

  /**
   * Returns the report as text.
   *
   * @param replay how to replay a run, with {@code %s} in the place of the run
   */
  public String text(String replay) {
    StringBuilder text = new StringBuilder();
    text.append(
        "%s fails with seed %d: %s%n  replay: %s%n"
            .formatted(name, seed, message(), replay.formatted("seed:" + seed)));
    text.append(
        "  shrunk in %d runs from %d switches to %d; %,d distinct schedules in %,d seeds%n"
            .formatted(shrinkRuns, switchesFound, schedule.switches().size(), schedules, runs));
    text.append("  the shrunk run: %s%n".formatted(replay.formatted(schedule)));
    if (!faultsInAll.isEmpty()) {
      text.append(
          "  faults in it: %s; in %,d seeds: %s%n"
              .formatted(
                  faults.isEmpty() ? "none" : Fault.describe(faults),
                  runs,
                  Fault.describe(faultsInAll)));
    }
    int width = Math.max(4, fibers.stream().mapToInt(String::length).max().orElse(4));
    for (int i = 0; i < events.size(); i++) {
      if (i == MOST_LINES / 2 && events.size() > MOST_LINES) {
        int left = events.size() - MOST_LINES;
        text.append("        … %,d more…%n".formatted(left));
        i += left;
      }
      text.append(line(i + 1, events.get(i), width)).append(System.lineSeparator());
    }
    StackTraceElement frame = Where.programFrame(cause);
    if (frame != null && Where.isProgram(frame.getClassName())) {
      text.append("  failed at ").append(frame).append(System.lineSeparator());
    }
    return text.toString();
  }

  /** Returns the report as JSON. */
  public String json() {
    return ReportPages.json(this);
  }

  /** Returns the report as one HTML page, with a lane for each fiber. */
  public String html() {
    return ReportPages.html(this);
  }

  /** Returns how often each kind of fault happened in the shrunk run. */
  public Map<Fault, Long> faults() {
    return faults;
  }

  /** Returns how often each kind of fault happened in all seeds. */
  public Map<Fault, Long> faultsInAll() {
    return faultsInAll;
  }

  /** Returns the name of the program. */
  String name() {
    return name;
  }

  List<String> fibers() {
    return fibers;
  }

  List<TraceEvent> events() {
    return events;
  }

  private String line(int number, TraceEvent event, int width) {
    return String.format(
            Locale.ROOT,
            "  %4d  %10.3f ms  %-" + width + "s  %-40s %s",
            number,
            event.nanos() / 1e6,
            fibers.get(event.fiber()),
            event.what(),
            event.place())
        .stripTrailing();
  }

  /** Returns what went wrong, in a line or more. */
  String message() {
    return cause instanceof AssertionError && cause.getMessage() != null
        ? cause.getMessage()
        : cause instanceof SimulationFailure
            ? String.valueOf(cause.getMessage())
            : cause.toString();
  }

  @Override
  public String toString() {
    return text();
  }
}
