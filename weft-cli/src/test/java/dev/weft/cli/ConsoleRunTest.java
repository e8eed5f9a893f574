package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code ./weft run --console}. */
@Feature("O3")
@Timeout(60)
class ConsoleRunTest extends ProgramsTest {
  private static final String AT = "weft: console at ";

  @Test
  void theAddressIsPrintedAndAnswersUntilTheProgramEnds() throws Exception {
    programs.write("Reads.java", "void main() { IO.println(IO.readln()); }");
    Process process = programs.run("--console", "Reads.java").startWithErrors();
    try (HttpClient client = HttpClient.newHttpClient();
        BufferedReader errors = process.errorReader()) {
      String line = errors.readLine();
      assertThat(line).startsWith(AT + "http://127.0.0.1:");
      HttpResponse<String> page =
          client.send(
              HttpRequest.newBuilder(URI.create(line.substring(AT.length()))).build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(page.body()).contains("Weft console");
      process.outputWriter().append("bye\n").close();
      assertThat(process.inputReader().readLine()).isEqualTo("bye");
      assertThat(process.waitFor()).isZero();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  @Test
  void aWrongPortIsNamedAndTheProgramRuns() throws Exception {
    programs.write("Waits.java", "void main() throws Exception { Thread.sleep(1_000); }");
    var result = programs.run("--console=70000", "Waits.java").run();
    assertThat(result.stderr()).contains("no console: -Dweft.console=70000", "PORT");
    assertThat(result.exitStatus()).isZero();
  }
}
