package dev.weft.sim.bugs;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.sim.FailureReport;
import dev.weft.sim.SimulationResult;
import dev.weft.sim.Strategy;
import dev.weft.sim.bugs.programs.KnownBugs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The full bar: every bug is found within 10,000 seeds in each of several trials, and no fixed twin
 * fails in 10,000 seeds; beside it each strategy alone, plain stress and Lincheck. It takes
 * minutes, and its name keeps it out of the build. These commands run it; each writes a table into
 * {@code weft-sim/target}:
 *
 * <pre>
 *   ./weft test 'KnownBugsReport#simulation' -- -pl weft-sim -am
 *   ./weft test 'KnownBugsReport#hardest' -- -pl weft-sim -am
 *   ./weft test 'KnownBugsReport#stress' -- -pl weft-sim -am
 *   ./weft test 'KnownBugsReport#lincheck' -- -pl weft-sim -am
 * </pre>
 */
class KnownBugsReport {
  private static final int SEEDS = 10_000;
  private static final int MANY_SEEDS = 1_000_000;
  private static final int TRIALS = 9;
  private static final int[] WITHIN = {1, 10, 100, 1_000, 10_000};
  private static final Map<String, Strategy> STRATEGIES = new LinkedHashMap<>();

  static {
    STRATEGIES.put("portfolio", Strategy.portfolio());
    STRATEGIES.put("walk", Strategy.walk());
    STRATEGIES.put("PCT", Strategy.pct(3));
    STRATEGIES.put("POS", Strategy.pos());
    STRATEGIES.put("blocking only", Strategy.blockingOnly());
  }

  /** How many seeds the trials of one strategy needed, sorted; more than there are: not found. */
  private record Trials(List<Integer> needed) {
    int median() {
      return needed.get(TRIALS / 2);
    }

    int worst() {
      return needed.getLast();
    }
  }

  private record Row(KnownBug bug, List<Trials> strategies, int switches) {
    String cells() {
      List<String> cells = new ArrayList<>();
      cells.add(bug.name());
      cells.add(bug.kind().toString());
      cells.add(bug.source());
      cells.add(number(strategies.getFirst().worst()));
      strategies.forEach(trials -> cells.add(number(trials.median())));
      cells.add(String.valueOf(switches));
      return line(cells);
    }
  }

  @Test
  @Timeout(value = 14, unit = TimeUnit.MINUTES)
  void simulation() throws IOException {
    List<Row> rows = new ArrayList<>();
    List<String> failedTwins = new ArrayList<>();
    for (KnownBug bug : KnownBugs.ALL) {
      Row row =
          new Row(
              bug,
              STRATEGIES.values().stream().map(strategy -> tryOut(bug, strategy)).toList(),
              switchesWhenShrunk(bug));
      System.out.println(row.cells());
      rows.add(row);
      Simulated.explore(bug.fixed(), Strategy.portfolio(), 1, SEEDS)
          .failure()
          .map(FailureReport::text)
          .ifPresent(failedTwins::add);
    }
    List<String> lines = summary(rows);
    lines.add("");
    lines.addAll(table(rows));
    write("simulation", lines);
    assertThat(failedTwins).as("fixed twins that fail").isEmpty();
    assertThat(rows)
        .as("bugs that a trial of the portfolio did not find")
        .noneMatch(row -> row.strategies().getFirst().worst() > SEEDS);
  }

  /** How many seeds the bug beyond the bar needs, by strategy. */
  @Test
  @Timeout(value = 14, unit = TimeUnit.MINUTES)
  void hardest() throws IOException {
    List<String> lines =
        new ArrayList<>(
            List.of(
                "| %s, up to %,d seeds | found in |".formatted(KnownBugs.HARDEST, MANY_SEEDS),
                "|---|---:|"));
    for (Map.Entry<String, Strategy> strategy : STRATEGIES.entrySet()) {
      SimulationResult result =
          Simulated.explore(KnownBugs.HARDEST.broken(), strategy.getValue(), 1, MANY_SEEDS);
      lines.add(
          line(
              List.of(
                  strategy.getKey(),
                  result.failed() ? "%,d".formatted(result.runs()) : "not found")));
      System.out.println(lines.getLast());
      write("hardest", lines); // after each: the limit of the build may come before the next
    }
    Simulated.explore(KnownBugs.HARDEST.fixed(), Strategy.portfolio(), 1, SEEDS).check();
  }

  @Test
  @Timeout(value = 14, unit = TimeUnit.MINUTES)
  void stress() throws Exception {
    askPeer(Peer.STRESS, Duration.ofSeconds(5).toMillis());
  }

  @Test
  @Timeout(value = 14, unit = TimeUnit.MINUTES)
  void lincheck() throws Exception {
    askPeer(Peer.LINCHECK, SEEDS);
  }

  private static Trials tryOut(KnownBug bug, Strategy strategy) {
    return new Trials(
        IntStream.range(0, TRIALS)
            .map(
                trial -> {
                  SimulationResult result =
                      Simulated.explore(bug.broken(), strategy, 1L + (long) trial * SEEDS, SEEDS);
                  return result.failed() ? Math.toIntExact(result.runs()) : SEEDS + 1;
                })
            .sorted()
            .boxed()
            .toList());
  }

  private static int switchesWhenShrunk(KnownBug bug) {
    return Simulated.shrunk(bug, SEEDS)
        .map(report -> report.schedule().switches().size())
        .orElse(-1);
  }

  private static List<String> summary(List<Row> rows) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "| bugs found within so many seeds, of "
            + rows.size()
            + IntStream.of(WITHIN)
                .mapToObj(KnownBugsReport::number)
                .collect(joining(" | ", " | ", " |")));
    lines.add("|---" + "|---:".repeat(WITHIN.length) + "|");
    int column = 0;
    for (String name : STRATEGIES.keySet()) {
      List<String> cells = new ArrayList<>(List.of(name));
      for (int limit : WITHIN) {
        int strategy = column;
        cells.add(
            String.valueOf(
                rows.stream()
                    .filter(row -> row.strategies().get(strategy).median() <= limit)
                    .count()));
      }
      lines.add(line(cells));
      column++;
    }
    return lines;
  }

  private static List<String> table(List<Row> rows) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "| bug | kind | after | worst | "
            + String.join(" | ", STRATEGIES.keySet())
            + " | switches |");
    lines.add("|---|---|---|---:" + "|---:".repeat(STRATEGIES.size()) + "|---:|");
    rows.forEach(row -> lines.add(row.cells()));
    return lines;
  }

  private static void askPeer(Peer peer, long budget) throws IOException, InterruptedException {
    List<String> lines = new ArrayList<>(List.of("| bug | broken | fixed |", "|---|---|---|"));
    for (KnownBug bug : KnownBugs.ALL) {
      String broken = peer.ask(bug, false, budget);
      String fixed = peer.ask(bug, true, budget / 10);
      lines.add(line(List.of(bug.name(), broken, fixed)));
      System.out.println(lines.getLast());
    }
    write(peer.name().toLowerCase(Locale.ROOT), lines);
  }

  private static void write(String name, List<String> lines) throws IOException {
    Path file =
        Path.of(
            System.getProperty("weft.root"), "weft-sim", "target", "known-bugs-" + name + ".md");
    List<String> all = new ArrayList<>(lines);
    all.add("");
    all.add(
        "%s, commit %s, JDK %s, %d cores."
            .formatted(
                LocalDate.now(ZoneOffset.UTC),
                commit(),
                Runtime.version(),
                Runtime.getRuntime().availableProcessors()));
    Files.write(file, all);
    System.out.println("written: " + file);
  }

  private static String commit() throws IOException {
    Process git =
        new ProcessBuilder("git", "describe", "--always", "--dirty")
            .directory(Path.of(System.getProperty("weft.root")).toFile())
            .start();
    return new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
  }

  private static String line(List<String> cells) {
    return cells.stream().collect(joining(" | ", "| ", " |"));
  }

  private static String number(int seeds) {
    return seeds > SEEDS ? "not found" : "%,d".formatted(seeds);
  }
}
