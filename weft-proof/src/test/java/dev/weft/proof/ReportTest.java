package dev.weft.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import dev.weft.testkit.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs {@code examples/Report.java}, which needs a database; the other examples do not. */
@Timeout(value = 5, unit = TimeUnit.MINUTES) // may build Weft and download the driver
class ReportTest {
  private static final Path ROOT = Path.of(System.getProperty("weft.root"));

  private static Command report(String... arguments) {
    Command command =
        arguments.length == 0
            ? Command.of("./weft", "run", "examples/Report.java")
            : Command.of("./weft", "run", "examples/Report.java", arguments[0]);
    return command
        .in(ROOT)
        .without("CLASSPATH")
        .without("DATABASE_URL")
        .without("JDK_JAVA_OPTIONS")
        .without("JAVA_TOOL_OPTIONS")
        .with("JAVA_HOME", System.getProperty("java.home"))
        .with("MAVEN_ARGS", "-Dmaven.repo.local=" + System.getProperty("localRepository"));
  }

  @Test
  @Feature("H8")
  void printsTheExpectedOutput() throws Exception {
    try (TestServer server = TestServer.start("postgres")) {
      Command.Result result = report(server.url()).run();
      assertThat(result.stdout()).isEqualTo(Files.readString(ROOT.resolve("examples/Report.out")));
      assertThat(result.exitStatus()).isZero();
    }
  }

  @Test
  void withoutADatabaseItSaysHowToGetOne() throws IOException, InterruptedException {
    Command.Result none = report().run();
    assertThat(none.exitStatus()).isEqualTo(2);
    assertThat(none.stderr()).contains("'bin/servers postgres' runs one for you");
    Command.Result wrong = report("jdbc:postgresql://127.0.0.1:1/none").run();
    assertThat(wrong.exitStatus()).isEqualTo(1);
    assertThat(wrong.stderr()).contains("cannot read from", "127.0.0.1:1 refused");
  }
}
