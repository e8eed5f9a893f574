package dev.weft.cli;

import dev.weft.testkit.Command;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The {@code ./weft} of this working copy, as a user calls it. */
final class Script {
  static final Path ROOT = Path.of(System.getProperty("weft.root"));

  /** What the launcher keeps for a user; here for the tests, not for the user that runs them. */
  static final Path CACHE = ROOT.resolve("target/test-cache");

  private Script() {}

  /**
   * Compiles a source file as {@code ./weft run} does after it has built Weft, into the cache where
   * the run then finds the classes: faster, because this JVM is warm.
   */
  static void compile(Path source) throws IOException {
    if (!Files.readString(source).contains("//DEPS ")) { // a run tells Maven its repository
      SourceFile.compile(source, List.of(), classPathOfRuns());
    }
  }

  static String classPathOfRuns() throws IOException {
    try (Stream<Path> jars = Files.list(ROOT.toRealPath().resolve("target/launch/weft-cli"))) {
      return jars.map(Path::toString)
          .filter(jar -> jar.endsWith(".jar") && !jar.matches(".*/(jline-|weft-sim).*"))
          .sorted()
          .collect(Collectors.joining(File.pathSeparator));
    }
  }

  static Command weft(String... arguments) {
    return at(ROOT, arguments);
  }

  /** Names the {@code ./weft} in another folder; it gets the Maven repository of this build. */
  static Command at(Path root, String... arguments) {
    List<String> words = new ArrayList<>(List.of(arguments));
    words.addFirst(root.resolve("weft").toString());
    return Command.of(words.toArray(new String[0]))
        .without("CLASSPATH")
        .without("JDK_JAVA_OPTIONS")
        .without("JAVA_TOOL_OPTIONS")
        .with("XDG_CACHE_HOME", CACHE.toString())
        .with("JAVA_HOME", System.getProperty("java.home"))
        .with("MAVEN_ARGS", "-Dmaven.repo.local=" + System.getProperty("localRepository"));
  }
}
