package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs every program in {@code examples/}: {@code X.java} must print what is in {@code X.out}. */
class ExamplesTest {
  private static final Path FOLDER = Script.ROOT.resolve("examples");

  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
  }

  // run by ReportTest of weft-proof, which has a database
  private static final Path NEEDS_SERVER = Path.of("Report.java");

  /** Examples that compute: the others end before the JVM's second compiler pays. */
  private static final Set<Path> LONG = Set.of(Path.of("Million.java"), Path.of("Skynet.java"));

  private static final String BRIEF = " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

  static List<Path> examples() throws IOException {
    return filesWith(".java").stream().filter(file -> !file.equals(NEEDS_SERVER)).toList();
  }

  @ParameterizedTest
  @MethodSource("examples")
  void printsWhatItShould(Path example) throws Exception {
    Path expected = FOLDER.resolve(example.toString().replaceFirst("\\.java$", ".out"));
    assertThat(expected).as("what %s should print", example).exists();

    Script.compile(FOLDER.resolve(example));
    Command.Result result =
        Script.weft("run", example.toString())
            .in(FOLDER)
            .with(
                "JDK_JAVA_OPTIONS",
                "-ea -Dstdout.encoding=UTF-8" + (LONG.contains(example) ? "" : BRIEF))
            .run();

    assertThat(result.stdout()).isEqualTo(Files.readString(expected));
    assertThat(result.stderr()).matches("(NOTE: Picked up .*\\R)?");
    assertThat(result.exitStatus()).isZero();
  }

  @Test
  void everyOutputHasItsExample() throws IOException {
    assertThat(filesWith(".out"))
        .map(output -> output.toString().replaceFirst("\\.out$", ".java"))
        .containsExactlyElementsOf(filesWith(".java").stream().map(Path::toString).toList());
  }

  @Test
  void theirReadmeNamesEachOne() throws IOException {
    String readme = Files.readString(FOLDER.resolve("README.md"));
    try (Stream<Path> files = Files.walk(FOLDER)) {
      assertThat(files.filter(file -> file.toString().endsWith(".java")))
          .allMatch(file -> readme.contains("(" + FOLDER.relativize(file) + ")"));
    }
  }

  private static List<Path> filesWith(String ending) throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files
          .map(Path::getFileName)
          .filter(file -> file.toString().endsWith(ending))
          .sorted()
          .toList();
    }
  }
}
