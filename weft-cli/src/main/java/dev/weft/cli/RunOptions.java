package dev.weft.cli;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The command line of {@code ./weft run}, taken apart.
 *
 * <p>By hand, not with a library: a library would be on the class path of the user's program too,
 * in a version the program did not choose.
 *
 * @param classPath where the program's other classes are; wildcards are expanded
 * @param target a source file, a jar or a class name
 */
record RunOptions(List<Path> classPath, String target, List<String> arguments) {
  private static final String USAGE =
      "usage: ./weft run [-cp PATH] Program.java|app.jar|Main [args...]";

  /** Reads options up to the program; the rest is the program's own. */
  static RunOptions parse(String[] args) {
    @Nullable String classPath = System.getenv("CLASSPATH");
    int i = 0;
    for (; i < args.length && args[i].startsWith("-"); i++) {
      String option = args[i];
      int equals = option.startsWith("--") ? option.indexOf('=') : -1;
      switch (equals < 0 ? option : option.substring(0, equals)) {
        case "-cp", "-classpath", "--class-path" -> {
          if (equals < 0 && i + 1 == args.length) {
            throw UserMistake.usage("option " + option + " needs a class path; " + USAGE);
          }
          classPath = equals < 0 ? args[++i] : option.substring(equals + 1);
        }
        default -> throw UserMistake.usage("unknown option " + option + "; " + USAGE);
      }
    }
    if (i == args.length) {
      throw UserMistake.usage("nothing to run; " + USAGE);
    }
    return new RunOptions(
        classPath == null ? List.of() : entries(classPath),
        args[i],
        List.of(args).subList(i + 1, args.length));
  }

  private static List<Path> entries(String classPath) {
    List<Path> entries = new ArrayList<>();
    for (String entry : classPath.split(File.pathSeparator, -1)) {
      if (entry.equals("*") || entry.endsWith("/*")) {
        entries.addAll(jarsIn(Path.of(entry.substring(0, entry.length() - 1))));
      } else {
        entries.add(Path.of(entry)); // the empty one is the current folder, as for java
      }
    }
    return entries;
  }

  private static List<Path> jarsIn(Path folder) {
    List<Path> jars = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "*.{jar,JAR}")) {
      found.forEach(jars::add);
    } catch (IOException e) {
      return List.of(); // java too takes a missing folder for an empty one
    }
    return jars;
  }
}
