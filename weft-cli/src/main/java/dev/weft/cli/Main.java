package dev.weft.cli;

/** What {@code ./weft run} starts. */
public final class Main {
  private Main() {}

  /** Runs the program that the arguments name. */
  public static void main(String[] args) throws Throwable {
    try {
      RunOptions options = RunOptions.parse(args);
      if (!options.hook()) {
        System.setProperty("weft.hook", "off"); // nothing of Weft's core has been loaded yet
      }
      Launcher.launch(Program.find(options), options);
    } catch (UserMistake mistake) {
      System.err.println("weft: " + mistake.getMessage());
      System.exit(mistake.exitStatus());
    }
  }
}
