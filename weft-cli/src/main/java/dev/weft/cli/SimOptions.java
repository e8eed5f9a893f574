package dev.weft.cli;

import dev.weft.sim.SimulationOptions;
import dev.weft.sim.Strategy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The command line of {@code ./weft sim}, taken apart. Options may stand before and behind the
 * program; the first other word behind it begins the program's own arguments, or {@code --} does.
 *
 * @param seeds how many seeds to run
 * @param points the packages with points; empty: those of the program
 * @param strategy the name of the strategy; empty: the portfolio
 * @param replay the run to repeat, as a report prints it; empty: none
 * @param html where to write a failure as a page; null: nowhere
 * @param json where to write a failure for programs; null: nowhere
 * @param verbose whether to print what each run prints
 * @param timersEarly whether timers may fire although threads could go on
 * @param program the program and its arguments
 */
record SimOptions(
    int seeds,
    List<String> points,
    String strategy,
    String replay,
    @Nullable Path html,
    @Nullable Path json,
    boolean verbose,
    boolean timersEarly,
    RunOptions program) {
  private static final int DEFAULT_SEEDS = 1_000;
  private static final int MOST_SEEDS = 1_000_000_000;
  private static final int DEFAULT_DEPTH = 3;
  private static final String USAGE =
      "usage: ./weft sim [--seeds N] [--points P,...] [--strategy NAME] [--replay RUN]"
          + " [--timers-early] [--html FILE] [--json FILE] [--verbose] [-cp PATH] Program.java|app.jar|Main [args...]";

  static SimOptions parse(String[] args) {
    int seeds = DEFAULT_SEEDS;
    List<String> points = List.of();
    String strategy = "";
    String replay = "";
    @Nullable Path html = null;
    @Nullable Path json = null;
    boolean verbose = false;
    boolean timersEarly = false;
    @Nullable String classPath = System.getenv("CLASSPATH");
    @Nullable String target = null;
    List<String> rest = new ArrayList<>();
    Arguments words =
        new Arguments(
            args,
            USAGE,
            "--seeds",
            "--points",
            "--strategy",
            "--replay",
            "--html",
            "--json",
            "-cp",
            "-classpath",
            "--class-path");
    while (words.next()) {
      switch (words.option()) {
        case "--seeds" -> seeds = words.number(1, MOST_SEEDS);
        case "--points" -> points = names(words.value());
        case "--strategy" -> strategy = words.value();
        case "--replay" -> replay = words.value();
        case "--html" -> html = Path.of(words.value());
        case "--json" -> json = Path.of(words.value());
        case "--verbose" -> verbose = true;
        case "--timers-early" -> timersEarly = true;
        case "-cp", "-classpath", "--class-path" -> classPath = words.value();
        default -> {
          if (target == null) {
            if (words.option().startsWith("-")) {
              throw words.unknown();
            }
            target = words.option();
          } else {
            if (!words.option().equals("--")) {
              rest.add(words.option());
            }
            rest.addAll(words.rest());
          }
        }
      }
    }
    if (target == null) {
      throw UserMistake.usage("nothing to simulate; " + USAGE);
    }
    SimOptions options =
        new SimOptions(
            seeds,
            points,
            strategy,
            replay,
            html,
            json,
            verbose,
            timersEarly,
            RunOptions.of(classPath, target, rest));
    options.simulation(); // refuses what is wrong before anything is compiled
    return options;
  }

  private static List<String> names(String list) {
    List<String> names = List.of(list.split(",", -1));
    if (names.stream().anyMatch(String::isBlank)) {
      throw UserMistake.usage(
          "points must be packages or classes, as com.shop,com.bank, not " + list);
    }
    return names;
  }

  /** Returns what to ask of the simulation, but for the points. */
  SimulationOptions simulation() {
    try {
      SimulationOptions options =
          (replay.isEmpty() ? SimulationOptions.seeds(seeds) : SimulationOptions.replay(replay))
              .timersEarly(timersEarly);
      return strategy.isEmpty() || options.strategy() instanceof Strategy.Replay
          ? options
          : options.strategy(strategyNamed(strategy));
    } catch (IllegalArgumentException e) {
      throw UserMistake.usage("cannot replay: " + e.getMessage());
    }
  }

  private static Strategy strategyNamed(String name) {
    String[] parts = name.split(":", 2);
    return switch (parts.length == 2 && !parts[0].equals("pct") ? name : parts[0]) {
      case "walk" -> Strategy.walk();
      case "pos" -> Strategy.pos();
      case "blocking" -> Strategy.blockingOnly();
      case "portfolio" -> Strategy.portfolio();
      case "pct" -> Strategy.pct(parts.length == 1 ? DEFAULT_DEPTH : depth(parts[1]));
      default ->
          throw UserMistake.usage(
              "strategy must be portfolio, walk, pct, pct:DEPTH, pos or blocking, not " + name);
    };
  }

  private static int depth(String text) {
    try {
      int depth = Integer.parseInt(text);
      if (depth >= 1) {
        return depth;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw UserMistake.usage("the depth of pct must be 1 or more, not " + text);
  }

  /** Returns the command that repeats a run, with {@code %s} in the place of the run. */
  String replayCommand() {
    StringBuilder command = new StringBuilder("./weft sim");
    if (!program.classPath().isEmpty()) {
      command.append(" -cp ").append(quoted(joinedClassPath()));
    }
    command.append(' ').append(quoted(program.target()));
    if (!points.isEmpty()) {
      command.append(" --points ").append(quoted(String.join(",", points)));
    }
    if (!strategy.isEmpty()) {
      command.append(" --strategy ").append(quoted(strategy));
    }
    if (timersEarly) {
      command.append(" --timers-early");
    }
    command.append(" --replay '%s'");
    if (!program.arguments().isEmpty()) {
      command.append(" --");
      program.arguments().forEach(word -> command.append(' ').append(quoted(word)));
    }
    return command.toString();
  }

  private String joinedClassPath() {
    return program.classPath().stream()
        .map(Path::toString)
        .collect(Collectors.joining(java.io.File.pathSeparator));
  }

  /** Returns a word as a shell reads it. */
  private static String quoted(String word) {
    String text = word.matches("[\\w@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    return text.replace("%", "%%"); // the command is a format
  }
}
