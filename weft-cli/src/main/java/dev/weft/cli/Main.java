package dev.weft.cli;

import java.nio.file.InvalidPathException;

/** What {@code ./weft run} starts. */
public final class Main {
  private Main() {}

  /** Runs the program that the arguments name. */
  public static void main(String[] args) throws Throwable {
    try {
      RunOptions options;
      Program program;
      try {
        options = RunOptions.parse(args);
        program = Program.find(options);
      } catch (InvalidPathException e) {
        throw UserMistake.usage(
            "cannot read the file name %s: its letters are not in this locale; set LC_ALL=C.UTF-8"
                .formatted(e.getInput()));
      }
      if (!options.hook()) {
        System.setProperty("weft.hook", "off"); // nothing of Weft's core has been loaded yet
      }
      if (System.getProperty("weft.threads") == null) {
        System.setProperty("weft.threads", "all");
      }
      if (!options.console().isEmpty()) {
        System.setProperty("weft.console", options.console());
      }
      Launcher.launch(program, options);
    } catch (UserMistake mistake) {
      System.err.println("weft: " + mistake.getMessage());
      System.exit(mistake.exitStatus());
    }
  }
}
