package dev.weft.bench;

import dev.weft.bench.model.Comparison;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** The command line of {@code ./weft bench}. */
@Command(
    name = "./weft bench",
    synopsisHeading = "",
    description = "%nMeasures Weft against its peers, side by side.%n",
    footer = "im-load [--help] is the load on the messaging server, with options of its own.",
    sortOptions = false)
final class BenchOptions {
  private static final int ROUNDS = 5;
  private static final int QUICK_ROUNDS = 3;
  private static final int UNSET = Integer.MIN_VALUE;

  @Parameters(paramLabel = "name", description = "What to run; all if there is none.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--quick", description = "At most a minute each: rougher numbers.")
  boolean quick;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Rounds to run (" + ROUNDS + ", quick: " + QUICK_ROUNDS + ").")
  private int rounds = UNSET;

  @Option(names = "--check", description = "Exit with status 1 if a bar is missed.")
  boolean check;

  @Option(
      names = "--against",
      paramLabel = "REF",
      description =
          "Measure against another commit of Weft, not against peers: builds it in target/against"
              + " and measures both in turns, with this commit's benchmarks.")
  Optional<String> against = Optional.empty();

  @Option(
      names = "--at-most",
      paramLabel = "RATIO",
      description =
          "With --against: exit with status 1 if a median this ÷ that is above, such as 1.03.")
  private Optional<Double> atMost = Optional.empty();

  @Option(
      names = "--page",
      description = "Measure nothing: put the results in target/bench on the page docs/numbers.md.")
  boolean page;

  @Option(names = "--list", description = "Say what there is to run.")
  boolean list;

  @Option(names = "--help", usageHelp = true, description = "Say this.")
  boolean help;

  /** A mistake on the command line; the message is one line. */
  static final class WrongUse extends Exception {
    private static final long serialVersionUID = 1L;

    WrongUse(String message) {
      super(message);
    }
  }

  private BenchOptions() {}

  static BenchOptions parse(String[] args, List<Comparison> suite) throws WrongUse {
    BenchOptions options = new BenchOptions();
    try {
      new CommandLine(options).parseArgs(args);
    } catch (ParameterException e) {
      throw new WrongUse(
          e.getMessage()
              + "; the options are --quick, --rounds N, --check, --against REF, --at-most RATIO,"
              + " --page, --list, --help");
    }
    if (options.rounds < 1 && options.rounds != UNSET) {
      throw new WrongUse("--rounds must be at least 1, not " + options.rounds);
    }
    if (options.atMost.isPresent() && options.against.isEmpty()) {
      throw new WrongUse("--at-most limits the ratio to another commit: it needs --against REF");
    }
    if (options.atMost.isPresent() && !(options.atMost.get() > 0)) {
      throw new WrongUse("--at-most must be more than 0, not " + options.atMost.get());
    }
    if (options.against.isPresent() && options.check) {
      throw new WrongUse("--check is for bars against peers; with --against it is --at-most RATIO");
    }
    List<String> known = suite.stream().map(Comparison::name).toList();
    List<String> unknown = options.names.stream().filter(name -> !known.contains(name)).toList();
    if (!unknown.isEmpty()) {
      throw new WrongUse(
          "there is no benchmark "
              + String.join(", ", unknown)
              + "; there are "
              + String.join(", ", known));
    }
    return options;
  }

  static String usage() {
    return new CommandLine(new BenchOptions()).getUsageMessage();
  }

  int rounds() {
    if (rounds != UNSET) {
      return rounds;
    }
    return quick ? QUICK_ROUNDS : ROUNDS;
  }

  OptionalDouble atMost() {
    return atMost.map(OptionalDouble::of).orElse(OptionalDouble.empty());
  }

  List<Comparison> chosen(List<Comparison> suite) {
    return suite.stream()
        .filter(comparison -> names.isEmpty() || names.contains(comparison.name()))
        .toList();
  }
}
