package dev.weft.bench;

import dev.weft.bench.against.Against;
import dev.weft.bench.against.OtherCommit;
import dev.weft.bench.im.ImLoad;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Library;
import dev.weft.bench.model.Run;
import dev.weft.bench.model.Trial;
import dev.weft.bench.report.Environment;
import dev.weft.bench.report.JsonReport;
import dev.weft.bench.report.NumbersPage;
import dev.weft.bench.report.Summary;
import dev.weft.bench.report.SvgChart;
import dev.weft.bench.report.TextTable;
import dev.weft.bench.run.OnlyOne;
import dev.weft.bench.run.Paces;
import dev.weft.bench.run.Progress;
import dev.weft.bench.run.Rounds;
import dev.weft.bench.suite.Suite;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** {@code ./weft bench}: runs comparisons and reports them. */
public final class Bench {
  private final List<Comparison> suite;
  private final Workspace workspace;
  private final PrintStream out;
  private final PrintStream err;

  Bench(List<Comparison> suite, Workspace workspace, PrintStream out, PrintStream err) {
    this.suite = suite;
    this.workspace = workspace;
    this.out = out;
    this.err = err;
  }

  /**
   * Ends with status 0, 1 if {@code --check} or {@code --at-most} found a missed bar, 2 for a wrong
   * command line or if it could not measure.
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(new Bench(Suite.all(), Workspace.find(), System.out, System.err).run(args));
  }

  int run(String... args) throws InterruptedException {
    if (args.length > 0 && args[0].equals("im-load")) { // no comparison: it has options of its own
      return ImLoad.run(workspace, out, err, Arrays.copyOfRange(args, 1, args.length));
    }
    try {
      BenchOptions options = BenchOptions.parse(args, suite);
      if (options.help) {
        out.print(BenchOptions.usage());
        return 0;
      }
      if (options.list) {
        list();
        return 0;
      }
      if (options.page) {
        page(options.chosen(suite));
        return 0;
      }
      OnlyOne.check();
      boolean allMet = measure(options, "./weft bench " + String.join(" ", args));
      return (options.check || options.atMost().isPresent()) && !allMet ? 1 : 0;
    } catch (BenchOptions.WrongUse | IOException e) {
      err.println("weft bench: " + e.getMessage());
      return 2;
    }
  }

  private void list() {
    int width = suite.stream().mapToInt(comparison -> comparison.name().length()).max().orElse(0);
    for (Comparison comparison : suite) {
      out.printf("%-" + width + "s  %s%n", comparison.name(), comparison.shows());
    }
  }

  private boolean measure(BenchOptions options, String commandLine)
      throws IOException, InterruptedException {
    Library library = Library.here(workspace.root());
    List<Comparison> chosen = comparisons(options);
    int rounds = options.rounds();
    Environment environment =
        Environment.here(
            workspace.code(), library.jvmFlags(), commandLine.strip(), rounds, options.quick);
    int trials = rounds * chosen.stream().mapToInt(Comparison::trialsPerRound).sum();
    List<String> reports = new ArrayList<>();
    List<String> unchecked = new ArrayList<>();
    boolean allMet = true;
    try (Progress progress = Progress.of(trials, err)) {
      for (Comparison comparison : chosen) {
        Trial.Pace pace =
            options.quick ? Paces.quick(rounds * comparison.trialsPerRound()) : Paces.thorough();
        List<Run> runs;
        try (PrintStream log = workspace.log(comparison.name())) {
          runs = new Rounds(rounds, library, progress).run(comparison, pace, log);
        }
        Summary summary = Summary.of(comparison, runs);
        allMet &= summary.allMet();
        unchecked.addAll(summary.unchecked());
        reports.add(report(summary, runs, environment));
      }
    }
    out.println(environment.line());
    out.println(environment.method());
    reports.forEach(report -> out.print("\n" + report));
    if (options.check) {
      unchecked.forEach(bar -> err.println("weft bench: not checked: " + bar));
    }
    return allMet;
  }

  /** Returns the chosen comparisons, or those of this build with another commit's. */
  private List<Comparison> comparisons(BenchOptions options)
      throws IOException, InterruptedException {
    List<Comparison> chosen = options.chosen(suite);
    if (options.against.isEmpty()) {
      return chosen;
    }
    OtherCommit other = OtherCommit.build(workspace.root(), options.against.get(), err);
    Against against = new Against(workspace.root(), workspace.code(), other, options.atMost());
    List<Comparison> pairs = new ArrayList<>();
    for (Comparison each : chosen) {
      against.of(each).ifPresent(pairs::add);
    }
    if (workspace.code().endsWith("-dirty")) {
      err.println("weft bench: this is " + workspace.code() + ": with changes not committed");
    }
    against.leftOut().forEach(line -> err.println("weft bench: left out: " + line));
    if (pairs.isEmpty()) {
      throw new IOException("nothing is left to measure against " + other.name());
    }
    return pairs;
  }

  /** Keeps the results of the chosen comparisons, and puts all kept results on one page. */
  private void page(List<Comparison> chosen) throws IOException {
    for (Comparison comparison : chosen) {
      Optional<String> result = workspace.read(comparison.name(), "json");
      Optional<String> picture = workspace.read(comparison.name(), "svg");
      if (result.isPresent() && picture.isPresent()) {
        workspace.publish(kept(comparison), result.get());
        workspace.publish("img/" + comparison.name() + ".svg", picture.get());
      }
    }
    List<String> results = new ArrayList<>();
    for (Comparison comparison : suite) {
      workspace.published(kept(comparison)).ifPresent(results::add);
    }
    out.println(workspace.publish("numbers.md", NumbersPage.render(results)));
  }

  private static String kept(Comparison comparison) {
    return "numbers/" + comparison.name() + ".json";
  }

  /** Writes picture and raw numbers at once, so that an interrupted run keeps its results. */
  private String report(Summary summary, List<Run> runs, Environment environment)
      throws IOException {
    String name = summary.comparison().name();
    var picture = workspace.write(name, "svg", SvgChart.render(summary, environment));
    var numbers = workspace.write(name, "json", JsonReport.render(summary, runs, environment));
    return TextTable.render(summary) + "  " + picture + ", " + numbers + "\n";
  }
}
