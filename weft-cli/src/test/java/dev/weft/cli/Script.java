package dev.weft.cli;

import dev.weft.testkit.Command;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The {@code ./weft} of this working copy, as a user calls it. */
final class Script {
  static final Path ROOT = Path.of(System.getProperty("weft.root"));

  /** What the launcher keeps for a user; here for the tests, not for the user that runs them. */
  static final Path CACHE = ROOT.resolve("target/test-cache");

  private Script() {}

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
