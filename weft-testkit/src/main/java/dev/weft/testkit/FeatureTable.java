package dev.weft.testkit;

import dev.weft.testkit.TestResult.Outcome;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The table of Weft's promises, with the tests that prove each row. As a program, it reports the
 * result of the last {@code ./weft test}.
 */
public final class FeatureTable {
  private static final Pattern ROW = Pattern.compile("\\| ([A-Z]+[0-9]+) \\|.*");

  private final List<String> lines;
  private final List<TestResult> results;
  private final Set<String> proved = new TreeSet<>();
  private final Set<String> failing = new TreeSet<>();

  /**
   * Merges a table with results.
   *
   * @param lines of {@code docs/features.md}
   * @param results of all tests, each once
   */
  FeatureTable(List<String> lines, List<TestResult> results) {
    this.lines = lines;
    this.results = results;
    for (TestResult result : results) {
      if (result.outcome() != Outcome.SKIPPED) {
        (result.outcome() == Outcome.PASSED ? proved : failing).addAll(result.features());
      }
    }
    proved.retainAll(rows());
    failing.retainAll(rows());
    proved.removeAll(failing);
  }

  /**
   * Writes {@code target/features.md} and prints the skipped and failed tests, the counts, and the
   * summary; no summary with {@code --some}, if only some tests were run.
   */
  public static void main(String[] args) throws IOException {
    Path root = Path.of("");
    List<TestResult> results = new ArrayList<>();
    for (Path journal : journals(root)) {
      results.addAll(ended(Files.readAllLines(journal)));
    }
    FeatureTable table =
        new FeatureTable(Files.readAllLines(root.resolve("docs/features.md")), results);
    Files.createDirectories(root.resolve("target"));
    Files.write(root.resolve("target/features.md"), table.merged());
    List<String> mistakes = table.mistakes();
    table.skipped().forEach(System.out::println);
    mistakes.forEach(System.out::println);
    System.out.println(table.counts());
    if (!List.of(args).contains("--some")) {
      System.out.println(table.summary());
    }
    System.exit(mistakes.isEmpty() ? 0 : 1);
  }

  /** Finds the journals of all modules, of which each JVM that ran tests has written one. */
  private static List<Path> journals(Path root) throws IOException {
    List<Path> journals = new ArrayList<>();
    try (DirectoryStream<Path> modules = Files.newDirectoryStream(root, Files::isDirectory)) {
      for (Path module : modules) {
        Path target = module.resolve("target");
        if (Files.isDirectory(target)) {
          try (DirectoryStream<Path> found = Files.newDirectoryStream(target, "features*.tsv")) {
            found.forEach(journals::add);
          }
        }
      }
    }
    return journals;
  }

  /** Reads a journal: how each test ended; a test that only started crashed its JVM. */
  static List<TestResult> ended(List<String> journal) {
    List<TestResult> ended = new ArrayList<>();
    List<TestResult> running = new ArrayList<>();
    for (String line : journal) {
      TestResult result = TestResult.parse(line);
      if (result.outcome() == Outcome.STARTED) {
        running.add(result);
      } else {
        running.remove(result.as(Outcome.STARTED, ""));
        ended.add(result);
      }
    }
    running.forEach(r -> ended.add(r.as(Outcome.FAILED, "its JVM ended before it did")));
    return ended;
  }

  /** Returns the table with two more columns: a mark and the tests. */
  List<String> merged() {
    return lines.stream().map(this::merged).toList();
  }

  private String merged(String line) {
    Matcher row = ROW.matcher(line);
    if (row.matches()) {
      return "%s %s | %s |".formatted(line, mark(row.group(1)), tests(row.group(1)));
    }
    if (line.startsWith("| id |")) {
      return line + " | tests |";
    }
    return line.startsWith("|---") ? line + "---|---|" : line;
  }

  private String mark(String feature) {
    return failing.contains(feature) ? "❌" : proved.contains(feature) ? "✅" : "";
  }

  private String tests(String feature) {
    return results.stream()
        .filter(result -> result.features().contains(feature))
        .map(result -> result.method().replaceFirst("^([a-z0-9_]+\\.)*", ""))
        .distinct()
        .sorted()
        .collect(Collectors.joining(", "));
  }

  /** Returns a line for each test, or class of tests, that cannot run on this machine. */
  List<String> skipped() {
    return results.stream()
        .filter(result -> result.outcome() == Outcome.SKIPPED)
        .map(result -> "SKIPPED " + result.test() + ": " + result.message())
        .toList();
  }

  /** Returns a line for each problem. */
  List<String> mistakes() {
    List<String> mistakes = new ArrayList<>();
    Set<String> rows = rows();
    for (TestResult result : results) {
      if (result.outcome() == Outcome.FAILED) {
        mistakes.add("FAILED " + result.test() + ": " + result.message());
      }
      for (String feature : result.features()) {
        if (!rows.contains(feature)) {
          mistakes.add(
              "%s names feature %s, which docs/features.md does not have"
                  .formatted(result.test(), feature));
        }
      }
    }
    if (results.isEmpty()) {
      mistakes.add("no test was run");
    }
    return mistakes;
  }

  String counts() {
    return "%d passed, %d failed, %d skipped"
        .formatted(count(Outcome.PASSED), count(Outcome.FAILED), count(Outcome.SKIPPED));
  }

  String summary() {
    return "features: %d rows proved, %d failing, %d without a test"
        .formatted(proved.size(), failing.size(), rows().size() - proved.size() - failing.size());
  }

  private long count(Outcome outcome) {
    return results.stream().filter(result -> result.outcome() == outcome).count();
  }

  private Set<String> rows() {
    return lines.stream()
        .map(ROW::matcher)
        .filter(Matcher::matches)
        .map(row -> row.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
