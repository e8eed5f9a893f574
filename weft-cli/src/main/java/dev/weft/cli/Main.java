package dev.weft.cli;

/** What {@code ./weft run} starts. */
public final class Main {
  private Main() {}

  /** Runs the program that the arguments name; what it throws is the JVM's to report. */
  public static void main(String[] args) throws Throwable {
    try {
      RunOptions options = RunOptions.parse(args);
      Launcher.launch(Program.find(options), options.arguments().toArray(new String[0]));
    } catch (UserMistake mistake) {
      System.err.println("weft: " + mistake.getMessage());
      System.exit(mistake.exitStatus());
    }
  }
}
