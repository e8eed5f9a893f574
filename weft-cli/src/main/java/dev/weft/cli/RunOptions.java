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
 * @param hook false if blocking calls are to be left to the JDK
 * @param mainThread whether main stays on the main thread, instead of being a fiber
 * @param threads how many threads run main and what it starts
 * @param console where the console listens, as the property weft.console has it; empty for none
 * @param classPath where the program's other classes are; wildcards are expanded
 * @param isModule whether the target is a module; the JVM was started with its path then
 * @param target a source file, a jar, a class name; or a module, maybe with /class
 */
record RunOptions(
    boolean hook,
    boolean mainThread,
    int threads,
    String console,
    List<Path> classPath,
    boolean isModule,
    String target,
    List<String> arguments) {
  private static final int MOST_THREADS = 10_000;
  private static final String ANY_PORT = "0";
  private static final String USAGE =
      "usage: ./weft run [--no-hook] [--threads N] [--main-thread] [--console[=PORT]] [-cp PATH]"
          + " Program.java|app.jar|Main|-p PATH -m MODULE[/MAIN] [args...]";

  /** Reads options up to the program; the rest is the program's own. */
  static RunOptions parse(String[] args) {
    boolean hook = true;
    boolean mainThread = false;
    int threads = Runtime.getRuntime().availableProcessors();
    @Nullable String classPath = System.getenv("CLASSPATH");
    String console = "";
    boolean modulePath = false;
    @Nullable String module = null;
    int i = 0;
    for (; module == null && i < args.length && args[i].startsWith("-"); i++) {
      String option = args[i];
      int equals = option.startsWith("--") ? option.indexOf('=') : -1;
      String name = equals < 0 ? option : option.substring(0, equals);
      @Nullable String needs =
          switch (name) {
            case "-cp", "-classpath", "--class-path" -> "a class path";
            case "-p", "--module-path" -> "a module path";
            case "-m", "--module" -> "a module";
            case "--threads" -> "a number";
            default -> null;
          };
      if (name.equals("--console") && equals >= 0) {
        console = option.substring(equals + 1);
        continue;
      }
      if (needs == null) {
        switch (option) {
          case "--no-hook" -> hook = false;
          case "--main-thread" -> mainThread = true;
          case "--console" -> console = ANY_PORT;
          default ->
              throw UserMistake.usage(
                  "unknown option %s (JVM options go into JDK_JAVA_OPTIONS); %s"
                      .formatted(option, USAGE));
        }
        continue;
      }
      if (equals < 0 && i + 1 == args.length) {
        throw UserMistake.usage("option " + option + " needs " + needs + "; " + USAGE);
      }
      String value = equals < 0 ? args[++i] : option.substring(equals + 1);
      switch (needs) {
        case "a class path" -> classPath = value;
        case "a module path" -> modulePath = true; // the JVM's: ./weft has passed it on
        case "a module" -> module = value;
        default -> threads = threads(value);
      }
    }
    if (module != null && !modulePath) {
      throw UserMistake.usage(
          "-m %s needs a module path: ./weft run -p PATH -m %s".formatted(module, module));
    }
    if (module == null && i == args.length) {
      throw UserMistake.usage("nothing to run; " + USAGE);
    }
    return new RunOptions(
        hook,
        mainThread,
        threads,
        console,
        classPath == null ? List.of() : entries(classPath),
        module != null,
        module != null ? module : args[i++],
        List.of(args).subList(i, args.length));
  }

  /** Returns the options of a program that has no other; a class path may be null. */
  static RunOptions of(@Nullable String classPath, String target, List<String> arguments) {
    return new RunOptions(
        true,
        false,
        1,
        "",
        classPath == null ? List.of() : entries(classPath),
        false,
        target,
        arguments);
  }

  private static int threads(String value) {
    try {
      int threads = Integer.parseInt(value);
      if (threads >= 1 && threads <= MOST_THREADS) {
        return threads;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw UserMistake.usage(
        "threads must be a number from 1 to %d, not %s".formatted(MOST_THREADS, value));
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
