package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code ./weft http}, and HTTP servers under {@code ./weft run}, as processes of their own. */
@Feature("A2")
class WebServerTest {
  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
  }

  private static HttpResponse<String> get(String uri) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create(uri)).build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void theServerServesTheFilesOfAFolder(@TempDir Path folder) throws Exception {
    Files.writeString(folder.resolve("page.html"), "<p>page</p>");
    Process process = Script.weft("http", "--port", "0", "--threads=2", folder.toString()).start();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      String line = out.readLine();
      assertThat(line).matches("http: .* at http://localhost:\\d+/");
      String uri = line.substring(line.indexOf("http://"));
      assertThat(get(uri + "page.html").body()).isEqualTo("<p>page</p>");
      assertThat(get(uri).body()).contains("page.html");
      assertThat(get(uri + "none").statusCode()).isEqualTo(404);
      // three connections, each with a fiber that logs after its answer: in any order
      assertThat(List.of(out.readLine(), out.readLine(), out.readLine()))
          .anyMatch(logged -> logged.contains("GET /page.html HTTP/1.1"))
          .anyMatch(logged -> logged.contains("GET / HTTP/1.1"))
          .anyMatch(logged -> logged.contains("GET /none HTTP/1.1"));
    } finally {
      process.destroy();
    }
  }

  /** Nothing in the program says so, and its class path is its own. */
  @Test
  void aProgramWrittenForTheJdksServerIsServedByFibers(@TempDir Path folder) throws Exception {
    Files.writeString(
        folder.resolve("Server.java"),
        """
        import com.sun.net.httpserver.*;
        import java.net.*;

        class Server {
          public static void main(String[] args) throws Exception {
            HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", exchange -> {
              byte[] text = Thread.currentThread().toString().getBytes();
              exchange.sendResponseHeaders(200, text.length);
              exchange.getResponseBody().write(text);
              exchange.close();
              server.stop(1);
            });
            server.start();
            System.out.println(server.getClass().getName() + " " + server.getAddress().getPort());
          }
        }
        """);
    Process process = Script.weft("run", folder.resolve("Server.java").toString()).start();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      List<String> words = List.of(out.readLine().split(" "));
      assertThat(words.getFirst()).isEqualTo("dev.weft.http.PlainServer");
      assertThat(get("http://localhost:" + words.getLast() + "/").body())
          .contains("VirtualThread", "http-connection");
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).as("it ends with its server").isTrue();
      assertThat(process.exitValue()).isZero();
    } finally {
      process.destroy();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --port,70000    | port must be a number from 0 to 65535, not 70000
          --threads,0     | threads must be a number from 1 to 10000, not 0
          --port          | option --port needs a value; usage: ./weft http
          --fast          | unknown option --fast; usage: ./weft http
          /a,/b           | unknown option /b; usage: ./weft http
          /no/such/folder | no folder that can be read: /no/such/folder
          """)
  void badUsageIsOneLineAndStatus2(String arguments, String message) throws Exception {
    List<String> words = new ArrayList<>(List.of("http"));
    words.addAll(List.of(arguments.split(",", -1)));
    Command.Result result = Script.weft(words.toArray(new String[0])).run();
    assertThat(result.exitStatus()).isEqualTo(2);
    assertThat(result.stdout()).isEmpty();
    assertThat(result.stderr()).startsWith("weft: " + message).hasLineCount(1);
  }

  @Test
  void aPortInUseOrAnAddressOfOthersIsOneLineAndStatus1() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Command.Result result =
          Script.weft("http", "--port", String.valueOf(taken.getLocalPort())).run();
      assertThat(result.exitStatus()).isEqualTo(1);
      assertThat(result.stderr()).startsWith("weft: cannot bind to").hasLineCount(1);
    }
    Command.Result result = Script.weft("http", "--bind", "192.0.2.1").run();
    assertThat(result.exitStatus()).isEqualTo(1);
    assertThat(result.stderr()).startsWith("weft: cannot bind to").hasLineCount(1);
  }
}
