package dev.weft.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Library;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Parameter;
import dev.weft.bench.model.Trial;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The Go contestants. Without Go, which is optional, most of this is skipped. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class GoProgramTest {
  private final Path root = Path.of(System.getProperty("weft.root"));
  private final PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());

  @Test
  void withoutGoTheTableSaysHowToGetIt(@TempDir Path empty) {
    assertThatThrownBy(() -> GoBuild.program(root, empty.toString(), nowhere))
        .isInstanceOf(Probe.Impossible.class)
        .hasMessage("needs Go: run 'bin/servers install go' as root");
  }

  @Test
  void sourcesThatDoNotCompileAreSaid(@TempDir Path empty) throws Exception {
    assumeGo();
    Files.createDirectories(empty.resolve("weft-bench/src/main/go"));

    assertThatThrownBy(() -> GoBuild.program(empty, nowhere))
        .hasMessage("the Go program does not build: see the log");
  }

  @Test
  void goesOwnTestsPass() throws Exception {
    assumeGo();
    Process tests =
        new ProcessBuilder("go", "test", "-count=1", ".")
            .directory(root.resolve("weft-bench/src/main/go").toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(tests.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(tests.waitFor()).as(said).isZero();
  }

  @Test
  void aWindowOfGoIsAnAnswerLikeThatOfAJvm() throws Exception {
    assumeGo();
    Parameter parameter = new Parameter("clauses", List.of("2"));
    Library library = new Library(root, "", List.of());
    Trial trial = new Trial(parameter, "2", Paces.quick(100), library, nowhere);

    try (InTurns.Session session = new GoProgram("select", 2).open(trial)) {
      assertThat(session.window())
          .isInstanceOfSatisfying(
              Outcome.Readings.class,
              readings ->
                  assertThat(readings.byMetric().get("time"))
                      .singleElement()
                      .satisfies(nanos -> assertThat(nanos).isBetween(1.0, 1e6)));
    }
  }

  private static void assumeGo() {
    assumeTrue(GoBuild.isPossible(), "there is no Go");
  }
}
