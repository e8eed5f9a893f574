package dev.weft.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What {@code ./weft report} starts: makes a page of a recording of the Flight Recorder. */
public final class Report {
  private static final String USAGE = "usage: ./weft report FILE.jfr [-o FILE.html]";

  private Report() {}

  /** Reads the recording that the arguments name, and writes the page. */
  public static void main(String[] args) {
    try {
      make(args);
    } catch (UserMistake mistake) {
      System.err.println("weft: " + mistake.getMessage());
      System.exit(mistake.exitStatus());
    }
  }

  static void make(String[] args) {
    String from = "";
    String to = "";
    Arguments arguments = new Arguments(args, USAGE, "-o", "--output");
    while (arguments.next()) {
      String word = arguments.option();
      if (word.equals("-o") || word.equals("--output")) {
        to = arguments.value();
      } else if (word.startsWith("-")) {
        throw arguments.unknown();
      } else if (!from.isEmpty()) {
        throw UserMistake.usage("one recording makes one page, not two: " + word + "; " + USAGE);
      } else {
        from = word;
      }
    }
    if (from.isEmpty()) {
      throw UserMistake.usage("no recording is named; " + USAGE);
    }
    Path recording = Path.of(from);
    Path page = to.isEmpty() ? pageBeside(recording) : Path.of(to);
    Recorded recorded = read(recording);
    try {
      Files.writeString(page, new ReportPage(recorded).html(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw UserMistake.program("cannot write " + page + ": " + e);
    }
    System.out.println(page);
    if (!recorded.hasWeftEvents()) {
      System.err.println(
          "weft: the recording has no event of Weft's: was it made of a program with fibers, with settings=weft.jfc?");
    }
  }

  private static Path pageBeside(Path recording) {
    String name = recording.getFileName().toString().replaceFirst("\\.jfr$", "");
    return recording.resolveSibling(name + ".html");
  }

  private static Recorded read(Path recording) {
    if (!Files.isRegularFile(recording)) {
      throw UserMistake.usage("no such file: " + recording);
    }
    try {
      return Recorded.read(recording);
    } catch (IOException e) {
      throw UserMistake.usage(
          "cannot read %s: %s; is it a recording of the Flight Recorder?"
              .formatted(recording, e.getMessage()));
    }
  }
}
