package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The programs of {@code examples/frameworks} serve on fibers, and end as they do under java: with
 * {@code ./weft run}, and with Weft as a library of theirs.
 */
@Feature("H10")
@Timeout(value = 2, unit = TimeUnit.MINUTES) // the first time Maven gets the libraries
class FrameworksTest {
  /** The exit status of a process that SIGTERM has ended. */
  private static final int TERMINATED = 143;

  private static final int REQUESTS = 1_000;
  private static final int CLIENTS = 8;

  /** A server ends before the JVM's second compiler pays. */
  private static final List<String> BRIEF = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  private static final Path SOURCES = Script.ROOT.resolve("examples/frameworks");
  private static HttpServer service;

  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
  }

  /** The service that handlers ask: another process for them. */
  @BeforeAll
  static void startService() throws IOException {
    service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    byte[] answer = "hello from afar".getBytes(StandardCharsets.US_ASCII);
    service.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    service.start();
  }

  @AfterAll
  static void stopService() {
    service.stop(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"SpringBoot", "Tomcat", "Jetty", "Helidon", "Javalin6", "Undertow"})
  void theProgramServesOnFibersAndAnswersRequestsUnderWayBeforeItEnds(String program)
      throws Exception {
    try (Server server = new Server(underWeft(program))) {
      server.serves();
      server.answersWhatIsUnderWayBeforeItEnds();
    }
  }

  @ParameterizedTest
  @Feature("P1")
  @ValueSource(strings = {"SpringBoot", "Tomcat", "Jetty", "Helidon", "Javalin6", "Undertow"})
  void withWeftAsADependencyItDoesSoUnderPlainJava(String program, @TempDir Path folder)
      throws Exception {
    try (Server server = new Server(withDependency(program, folder))) {
      server.serves();
      server.answersWhatIsUnderWayBeforeItEnds();
    }
  }

  /**
   * What else the page says: the program runs, and only fibers that it starts itself are Weft's.
   */
  @Test
  @Feature("P1")
  void withoutThePropertyHandlersStayOnTheJdksScheduler(@TempDir Path folder) throws Exception {
    Programs programs = compiled("Jetty", folder);
    try (Server server = new Server(java(programs, "-cp", classPath("Jetty", folder), "OnWeft"))) {
      assertThat(server.ask("/fiber").get().body()).isEqualTo("Optional.empty");
    }
  }

  private static String serviceAddress() {
    return "http://localhost:" + service.getAddress().getPort();
  }

  private static Process underWeft(String program) throws Exception {
    return Script.weft("run", program + ".java", serviceAddress())
        .with("JDK_JAVA_OPTIONS", String.join(" ", BRIEF))
        .in(SOURCES)
        .start();
  }

  // ---- as a dependency

  /** What docs/frameworks.md says: one line of main and one property; no other flag. */
  private static Process withDependency(String program, Path folder) throws Exception {
    Programs programs = compiled(program, folder);
    return java(
        programs,
        "-Dweft.threads=all",
        "-cp",
        classPath(program, folder),
        "OnWeft",
        serviceAddress());
  }

  private static Process java(Programs programs, String... arguments) throws Exception {
    List<String> words = new ArrayList<>(BRIEF);
    words.addAll(List.of(arguments));
    return programs.java(words.toArray(new String[0])).start();
  }

  private static Programs compiled(String program, Path folder) throws Exception {
    Programs programs = new Programs(folder);
    programs.write(
        "OnWeft.java",
        """
        public class OnWeft {
          public static void main(String[] args) throws Exception {
            dev.weft.Scheduler.shared();
            %s.main(args);
          }
        }
        """
            .formatted(program));
    programs.javac(
        "-d",
        folder.toString(),
        "-cp",
        classPath(program, folder),
        SOURCES.resolve(program + ".java").toString(),
        folder.resolve("OnWeft.java").toString());
    return programs;
  }

  /** The program, its libraries, and Weft's library beside them. */
  private static String classPath(String program, Path folder) throws Exception {
    List<Path> paths = new ArrayList<>(List.of(folder));
    paths.addAll(Libraries.of(SOURCES.resolve(program + ".java")));
    try (Stream<Path> jars = Files.list(Script.ROOT.resolve("target/launch/weft-cli"))) {
      jars.filter(jar -> jar.getFileName().toString().matches("(weft-core|jctools|jspecify).*jar"))
          .forEach(paths::add);
    }
    return paths.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  // ---- the server

  /** A program, and a client of it. */
  private static final class Server implements AutoCloseable {
    final Process process;
    private final BufferedReader output;
    private final HttpClient client = HttpClient.newHttpClient();
    private final String address;

    Server(Process process) throws Exception {
      this.process = process;
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
      assertThat(ask("/call").get().body()).isEqualTo("hello from afar");
      try (var clients = Executors.newFixedThreadPool(CLIENTS)) {
        List<Future<Long>> answered =
            IntStream.range(0, CLIENTS).mapToObj(i -> clients.submit(this::askForFibers)).toList();
        for (Future<Long> each : answered) {
          assertThat(each.get()).isEqualTo(REQUESTS / CLIENTS);
        }
      }
    }

    void answersWhatIsUnderWayBeforeItEnds() throws Exception {
      CompletableFuture<String> slow = ask("/slow").thenApply(HttpResponse::body);
      awaitLine("@slow");
      process.destroy();

      assertThat(slow.get(10, TimeUnit.SECONDS)).isEqualTo("hello, world");
      assertThat(process.waitFor()).isEqualTo(TERMINATED);
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
