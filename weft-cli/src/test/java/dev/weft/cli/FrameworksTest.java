package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of {@code examples/frameworks} serve on fibers, and end as they do under java. */
@Feature("H10")
@Timeout(value = 2, unit = TimeUnit.MINUTES) // the first time Maven gets the libraries
class FrameworksTest {
  /** The exit status of a process that SIGTERM has ended. */
  private static final int TERMINATED = 143;

  private static final int REQUESTS = 1_000;
  private static final int CLIENTS = 8;

  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
  }

  @ParameterizedTest
  @ValueSource(strings = {"SpringBoot", "Tomcat", "Jetty", "Helidon"})
  void itServesOnFibersAndAnswersWhatIsUnderWayBeforeItEnds(String program) throws Exception {
    try (Server server = new Server(program)) {
      server.serves();
      CompletableFuture<String> slow = server.ask("/slow").thenApply(HttpResponse::body);
      server.awaitLine("@slow");
      server.process.destroy();

      assertThat(slow.get(10, TimeUnit.SECONDS)).isEqualTo("hello, world");
      assertThat(server.process.waitFor()).isEqualTo(TERMINATED);
    }
  }

  /** It does not wait for requests under way when it ends. */
  @ParameterizedTest
  @ValueSource(strings = "Javalin6")
  void itServesOnFibers(String program) throws Exception {
    try (Server server = new Server(program)) {
      server.serves();
      server.process.destroy();

      assertThat(server.process.waitFor()).isEqualTo(TERMINATED);
    }
  }

  /** A program under {@code ./weft run}, and a client of it. */
  private static final class Server implements AutoCloseable {
    final Process process;
    private final BufferedReader output;
    private final HttpClient client = HttpClient.newHttpClient();
    private final String address;

    Server(String program) throws Exception {
      process =
          Script.weft("run", program + ".java")
              .in(Script.ROOT.resolve("examples/frameworks"))
              .start();
      output = process.inputReader(StandardCharsets.UTF_8);
      address = "http://localhost:" + awaitLine("@port ").substring("@port ".length());
    }

    /** Reads the output up to a line that begins so. */
    String awaitLine(String begin) throws Exception {
      String line = output.readLine();
      while (line != null && !line.startsWith(begin)) {
        line = output.readLine();
      }
      assertThat(line).as("a line with " + begin).isNotNull();
      return line;
    }

    CompletableFuture<HttpResponse<String>> ask(String path) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(address + path))
              .timeout(Duration.ofSeconds(30))
              .build();
      return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    /** Asks for everything that the program has, and for one page many times. */
    void serves() throws Exception {
      assertThat(ask("/fiber").get().body()).startsWith("Optional[fiber ");
      assertThat(ask("/sleep").get().body()).isEqualTo("hello, world");
      assertThat(ask("/jdbc").get().body()).isEqualTo("hello, world");
      try (var clients = Executors.newFixedThreadPool(CLIENTS)) {
        List<Future<Long>> answered =
            IntStream.range(0, CLIENTS).mapToObj(i -> clients.submit(this::askForFibers)).toList();
        for (Future<Long> each : answered) {
          assertThat(each.get()).isEqualTo(REQUESTS / CLIENTS);
        }
      }
    }

    /** Returns how many requests were answered by a fiber. */
    private long askForFibers() {
      return IntStream.range(0, REQUESTS / CLIENTS)
          .mapToObj(i -> ask("/fiber").join().body())
          .filter(text -> text.startsWith("Optional[fiber "))
          .count();
    }

    @Override
    public void close() {
      client.close();
      process.destroyForcibly();
    }
  }
}
