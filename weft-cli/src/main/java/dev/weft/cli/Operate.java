package dev.weft.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What {@code ./weft ps}, {@code dump}, {@code leaks} and {@code top} start: a look into another
 * process.
 */
public final class Operate {
  private Operate() {}

  /** Runs a command: its name, then its arguments. */
  public static void main(String[] args) {
    try {
      run(args[0], List.of(args).subList(1, args.length));
    } catch (UserMistake mistake) {
      System.err.println("weft: " + mistake.getMessage());
      System.exit(mistake.exitStatus());
    } catch (IOException e) {
      System.err.println("weft: " + e.getMessage());
      System.exit(1);
    }
  }

  private static void run(String command, List<String> args) throws IOException {
    switch (command) {
      case "ps" -> {
        parse(command, args, Set.of(), false);
        System.out.print(WeftProcesses.table(WeftProcesses.list()));
      }
      case "dump" -> answer(command, args, Set.of("--json", "--full"));
      case "leaks" -> answer(command, args, Set.of("--json"));
      case "top" -> {
        List<String> words = parse(command, args, Set.of("--once"), true);
        Top.run(WeftProcesses.find(words.getFirst(), command), words.contains("--once"));
      }
      default -> throw new AssertionError(command);
    }
  }

  /** Asks the process once, and prints what it answers. */
  private static void answer(String command, List<String> args, Set<String> options)
      throws IOException {
    List<String> words = parse(command, args, options, true);
    List<String> request = new ArrayList<>(List.of(command));
    List.of("--full", "--json").stream().filter(words::contains).forEach(request::add);
    try (Attached process = Attached.to(WeftProcesses.find(words.getFirst(), command))) {
      process.askOnce(String.join(" ", request), System.out);
    }
    if (System.out.checkError()) {
      throw UserMistake.program("cannot write the answer: standard output is closed or full");
    }
  }

  /** Returns the process id, if one is wanted, and the options. */
  private static List<String> parse(
      String command, List<String> args, Set<String> options, boolean wantsProcess) {
    List<String> words = new ArrayList<>();
    String usage =
        "usage: ./weft "
            + command
            + (wantsProcess ? " PID" : "")
            + String.join("", options.stream().sorted().map(o -> " [" + o + "]").toList());
    for (String word : args) {
      if (word.startsWith("-")) {
        if (!options.contains(word)) {
          throw UserMistake.usage("unknown option " + word + "; " + usage);
        }
        words.addLast(word);
      } else if (!wantsProcess || (!words.isEmpty() && !words.getFirst().startsWith("-"))) {
        throw UserMistake.usage("unexpected argument " + word + "; " + usage);
      } else {
        words.addFirst(word);
      }
    }
    if (wantsProcess && (words.isEmpty() || words.getFirst().startsWith("-"))) {
      throw UserMistake.usage(
          "which process? "
              + usage
              + "\n"
              + WeftProcesses.table(WeftProcesses.list()).stripTrailing());
    }
    return words;
  }
}
