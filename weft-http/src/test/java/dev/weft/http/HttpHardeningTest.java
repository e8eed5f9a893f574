package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a hostile client, or a careless handler, must not be able to do. */
@Feature("A2")
class HttpHardeningTest {
  private static final String GET = "GET / HTTP/1.1\nHost: x\n\n";
  private static final String POST = "POST / HTTP/1.1\nHost: x\n";

  private HttpServer server;

  @BeforeEach
  void create() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void start(HttpHandler handler) {
    server.createContext("/", handler);
    server.start();
  }

  private RawClient client() throws IOException {
    return new RawClient(server.getAddress());
  }

  // ---- response splitting ----

  private static Named<Consumer<Headers>> way(String name, Consumer<Headers> way) {
    return Named.of(name, way);
  }

  static Stream<Named<Consumer<Headers>>> waysToSplit() {
    return Stream.of(
        way(
            "a value added to the list of a header",
            headers -> {
              headers.add("X", "a");
              headers.get("X").add("b\r\nEvil: 1");
            }),
        way(
            "a list changed after put",
            headers -> {
              List<String> values = new ArrayList<>(List.of("a"));
              headers.put("X", values);
              values.set(0, "b\r\nEvil: 1");
            }),
        way(
            "a list of all values",
            headers -> {
              headers.add("X", "a");
              headers.values().iterator().next().add("b\nEvil: 1");
            }),
        way(
            "an entry",
            headers -> {
              headers.add("X", "a");
              headers.entrySet().iterator().next().setValue(List.of("b\rEvil: 1"));
            }),
        way("NUL in a value", headers -> headers.set("X", "a\0b")),
        way("NUL in a name", headers -> headers.set("X\0", "a")),
        way("a name with a space", headers -> headers.set("X : a\tEvil", "1")),
        way("no name", headers -> headers.set("", "1")),
        way("a folded value", headers -> headers.set("X", "a\r\n Evil: 1")),
        way(
            "what becomes a line feed if it is cut to 8 bits",
            headers -> {
              headers.add("X", "a");
              headers.get("X").add("b\u010AEvil: 1");
            }));
  }

  @ParameterizedTest
  @MethodSource("waysToSplit")
  void aHeaderIsCheckedAgainWhenItIsSent(Consumer<Headers> way) throws Exception {
    CompletableFuture<Throwable> seen = new CompletableFuture<>();
    start(
        exchange -> {
          way.accept(exchange.getResponseHeaders());
          try {
            exchange.sendResponseHeaders(200, -1);
            seen.complete(new AssertionError("it was sent"));
          } catch (IllegalArgumentException e) {
            seen.complete(e);
            throw e;
          }
        });
    try (RawClient client = client()) {
      RawClient.Response response = client.send(GET).receive();
      assertThat(response.status()).isEqualTo(500);
      assertThat(response.headers()).doesNotContainKeys("x", "evil");
    }
    assertThat(seen.get()).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aHandlerMayMendItsHeadersAndSendThemThen() throws Exception {
    start(
        exchange -> {
          exchange.getResponseHeaders().set("X", "a\0b");
          try {
            exchange.sendResponseHeaders(200, -1);
          } catch (IllegalArgumentException e) {
            exchange.getResponseHeaders().set("X", "mended");
            exchange.sendResponseHeaders(200, -1);
          }
        });
    try (RawClient client = client()) {
      assertThat(client.send(GET).receive().headers()).containsEntry("x", "mended");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "200, 0, GET, 1.1, chunked, ",
    "200, 2, GET, 1.1, , 2",
    "200, -1, GET, 1.1, , 0",
    "200, 0, GET, 1.0, , ",
    "204, -1, GET, 1.1, , ",
    "205, 2, GET, 1.1, , 0",
    "200, -1, HEAD, 1.1, , 99",
    "304, -1, GET, 1.1, , 99"
  })
  void aResponseNeverHasALengthAndChunks(
      int status, int length, String method, String version, String encoding, String told)
      throws Exception {
    start(
        exchange -> {
          exchange.getResponseHeaders().set("Content-Length", "99");
          exchange.getResponseHeaders().set("Transfer-Encoding", "gzip");
          exchange.sendResponseHeaders(status, length);
          exchange.getResponseBody().write("ok".getBytes(ISO_8859_1));
          exchange.close();
        });
    try (RawClient client = client()) {
      client.send(method + " / HTTP/" + version + "\nHost: x\n\n");
      RawClient.Response response = client.receive(method.equals("HEAD"));
      assertThat(response.headers().get("transfer-encoding")).isEqualTo(encoding);
      assertThat(response.headers().get("content-length")).isEqualTo(told);
    }
  }

  /** A client would take the next final response for that of this request. */
  @ParameterizedTest
  @ValueSource(ints = {100, 101, 103, 199})
  void aResponseIsNotAnInterimOne(int status) throws Exception {
    start(
        exchange -> {
          try {
            exchange.sendResponseHeaders(status, -1);
          } catch (IllegalArgumentException e) {
            byte[] why = e.getMessage().getBytes(ISO_8859_1);
            exchange.sendResponseHeaders(200, why.length);
            exchange.getResponseBody().write(why);
            exchange.close();
          }
        });
    try (RawClient client = client()) {
      assertThat(client.send(GET).receive().body())
          .isEqualTo("the status of a response must be from 200 to 999, not " + status);
    }
  }

  // ---- the connection ----

  /** What the handler says of the connection is kept, and what the server knows is added. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "x, close | GET / HTTP/1.1 | x, close | false",
        "Close | GET / HTTP/1.1 | close | false",
        "'x, ,CLOSE,y' | GET / HTTP/1.1 | x, y, close | false",
        "closed | GET / HTTP/1.1 | closed | true",
        "Upgrade | 'GET / HTTP/1.1\nConnection: close' | Upgrade, close | false",
        "keep-alive | 'GET / HTTP/1.1\nConnection: close' | close | false",
        "Upgrade | 'GET / HTTP/1.0\nConnection: keep-alive' | Upgrade, keep-alive | true",
        "close | 'GET / HTTP/1.0\nConnection: keep-alive' | close | false",
      })
  void optionsOfTheConnectionAreAdded(String set, String request, String told, boolean kept)
      throws Exception {
    start(
        exchange -> {
          exchange.getResponseHeaders().put("Connection", List.of(set));
          exchange.sendResponseHeaders(200, -1);
        });
    try (RawClient client = client()) {
      client.send(request + "\nHost: x\n\n");
      assertThat(client.receive().headers()).containsEntry("connection", told);
      if (kept) {
        assertThat(client.send(GET).receive().status()).isEqualTo(200);
      } else {
        assertThat(client.hasEnded()).isTrue();
      }
    }
  }

  /** To close a socket with unread bytes resets the connection, and the response may be lost. */
  @ParameterizedTest
  @CsvSource({
    "close, GET / HTTP/1.1",
    "'', 'GET / HTTP/1.1\nConnection: close'",
    "'', GET / HTTP/1.0",
    "fail, GET / HTTP/1.1"
  })
  void bytesThatComeTooLateResetNothing(String handler, String request) throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch sent = new CountDownLatch(1);
    start(
        exchange -> {
          entered.countDown();
          try {
            sent.await();
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
          if (handler.equals("fail")) {
            throw new IOException("for a test");
          }
          if (handler.equals("close")) {
            exchange.getResponseHeaders().set("Connection", "close");
          }
          exchange.sendResponseHeaders(200, -1);
        });
    try (Log _ = new Log();
        RawClient client = client()) {
      client.send(request + "\nHost: x\n\n");
      entered.await();
      client.send(GET + "x".repeat(20_000)); // the client cannot know yet
      sent.countDown();
      assertThat(client.receive().status()).isEqualTo(handler.equals("fail") ? 500 : 200);
      assertThat(client.hasEndedCleanly()).isTrue();
    }
  }

  // ---- time ----

  private interface Limited {
    void run() throws Exception;
  }

  /** Makes the server anew, with a property. */
  private void with(String property, String value, Limited test) throws Exception {
    System.setProperty(property, value);
    try {
      server.stop(0);
      create();
      test.run();
    } finally {
      System.clearProperty(property);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n", "GET / HT", "GET / HTTP/1.1\nHost: x\n\n\n", "POST", "HEAD /"})
  void stopDoesNotWaitForClientsThatHaveNoRequestUnderWay(String sent) throws Exception {
    CountDownLatch handled = new CountDownLatch(1);
    start(
        exchange -> {
          exchange.sendResponseHeaders(200, -1);
          handled.countDown();
        });
    try (RawClient client = client();
        RawClient other = client()) {
      client.send(sent);
      other.send(GET).receive(); // so that the server has seen the first client, too
      if (sent.contains("Host")) {
        client.receive();
        handled.await();
      }
      long start = System.nanoTime();
      server.stop(20);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
      assertThat(client.hasEnded()).isTrue();
    }
  }

  /** A conversation that the server has to end: a property, what is sent, and for how long. */
  private record Stalling(String property, String seconds, String sent, String later, int least) {
    /** Returns how many seconds it took from the last byte sent to the end. */
    double run() throws Exception {
      HttpServer server;
      synchronized (Stalling.class) { // the server reads its limits when it is made
        System.setProperty(property, seconds);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        System.clearProperty(property);
      }
      server.createContext("/unread", exchange -> exchange.sendResponseHeaders(200, -1));
      server.createContext(
          "/",
          exchange -> {
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, -1);
          });
      server.start();
      try (RawClient client = new RawClient(server.getAddress())) {
        client.send(sent);
        if (sent.startsWith("GET / HTTP") || sent.contains("unread")) {
          client.receive();
        }
        if (!later.isEmpty()) {
          Thread.sleep(2_000); // a slow client
          client.send(later);
        }
        long start = System.nanoTime();
        assertThat(client.hasEnded()).isTrue();
        return (System.nanoTime() - start) / 1e9;
      } finally {
        server.stop(0);
      }
    }
  }

  /** All at once, because each takes its time. */
  @Test
  void timeIsLimitedWhateverTheClientSends() throws Exception {
    String idle = "sun.net.httpserver.idleInterval";
    String request = "sun.net.httpserver.maxReqTime";
    String length = "Content-Length: 9\n";
    Map<Stalling, Future<Double>> all = new LinkedHashMap<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Stalling one :
          List.of(
              new Stalling(idle, "1", "\n", "", 1),
              new Stalling(idle, "1", GET + "\n", "", 1),
              new Stalling(idle, "3", GET + "\n", "\n", 0), // from the response, not from here
              new Stalling(request, "1", "", "", 1),
              new Stalling(request, "1", "\n", "", 1),
              new Stalling(request, "1", "GET / HT", "", 1),
              new Stalling(request, "1", GET + "GET / HT", "", 1),
              new Stalling(request, "1", POST + length + "\nab", "", 1),
              new Stalling(request, "3", POST + length, "\nab", 0), // from the first byte
              new Stalling("weft.http.maxHeadTime", "1", GET + "GET / HT", "", 1),
              new Stalling(
                  "none", "", "POST /unread HTTP/1.1\nHost: x\n" + length + "\nab", "", 4))) {
        all.put(one, threads.submit(one::run));
      }
      for (Map.Entry<Stalling, Future<Double>> one : all.entrySet()) {
        int most = one.getKey().later.isEmpty() ? 15 : 3;
        assertThat(one.getValue().get())
            .as(one.getKey().toString())
            .isBetween(one.getKey().least - 0.1, most - 0.1);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "sun.net.httpserver.idleInterval, 0",
    "sun.net.httpserver.idleInterval, -1",
    "sun.net.httpserver.maxReqHeaders, 0",
    "sun.net.httpserver.maxReqHeaders, -1",
    "sun.net.httpserver.maxIdleConnections, 0",
    "sun.net.httpserver.maxIdleConnections, -1",
    "sun.net.httpserver.maxReqTime, 0x10"
  })
  void aLimitOfTheJdksServerIsNeverWeaker(String property, String value) throws Exception {
    with(
        property,
        value,
        () -> {
          HttpLimits limits = HttpLimits.fromProperties();
          assertThat(limits.idleSeconds()).isEqualTo(30);
          assertThat(limits.headers()).isEqualTo(200);
          assertThat(limits.idleConnections())
              .isEqualTo(property.endsWith("Connections") ? 0 : Integer.MAX_VALUE);
          assertThat(limits.requestSeconds()).isEqualTo(value.equals("0x10") ? 16 : 0);
          assertThat(limits.headSeconds()).isEqualTo(value.equals("0x10") ? 16 : 30);
          assertThat(limits.firstSeconds()).isEqualTo(value.equals("0x10") ? 16 : 30);
        });
  }

  @Test
  void withoutRoomForIdleConnectionsNoneIsKept() throws Exception {
    with(
        "sun.net.httpserver.maxIdleConnections",
        "0",
        () -> {
          start(exchange -> exchange.sendResponseHeaders(200, -1));
          try (RawClient client = client()) {
            assertThat(client.send(GET).receive().headers()).containsEntry("connection", "close");
            assertThat(client.hasEnded()).isTrue();
          }
        });
  }

  /** The JDK's counts 32 bytes for each line beside its characters. */
  @Test
  void manySmallHeadersAreCountedAsTheJdkCountsThem() throws Exception {
    with(
        "sun.net.httpserver.maxReqHeaderSize",
        "1000",
        () -> {
          start(exchange -> exchange.sendResponseHeaders(200, -1));
          try (RawClient client = client()) {
            client.send("GET / HTTP/1.1\nHost: x\n" + "a:\n".repeat(20) + "\n");
            assertThat(client.receive().status()).isEqualTo(200);
            client.send("GET / HTTP/1.1\nHost: x\n" + "a:\n".repeat(30) + "\n");
            assertThat(client.receive().status()).isEqualTo(431);
          }
        });
  }

  // ---- bodies ----

  /** Keeps what a logger is told, all of it, while a test runs. */
  private static final class Log extends Handler implements AutoCloseable {
    private final Logger logger = Logger.getLogger("dev.weft.http");
    private final List<LogRecord> records = new CopyOnWriteArrayList<>();

    Log() {
      logger.setLevel(Level.ALL);
      logger.setUseParentHandlers(false);
      logger.addHandler(this);
    }

    @Override
    public void publish(LogRecord entry) {
      records.add(entry);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
      logger.removeHandler(this);
      logger.setUseParentHandlers(true);
      logger.setLevel(null);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "400, 'Transfer-Encoding: chunked\n\nzz\n'",
    "400, 'Transfer-Encoding: chunked\n\n5\nabc'",
    "400, 'Content-Length: 5\n\nabc'",
  })
  void aBadBodyIsTheClientsFaultAndOneLineOfTheLog(int status, String rest) throws Exception {
    start(
        exchange -> {
          try {
            exchange.getRequestBody().readAllBytes();
          } catch (IOException e) {
            throw new IllegalStateException("wrapped", e);
          }
        });
    try (Log log = new Log()) {
      try (RawClient client = client()) {
        RawClient.Response response = client.send(POST + rest).end().receive();
        assertThat(response.status()).isEqualTo(status);
        assertThat(response.body()).isNotBlank();
        assertThat(client.hasEnded()).isTrue();
      }
      assertThat(log.records).hasSize(1);
      assertThat(log.records.getFirst().getLevel()).isEqualTo(Level.FINE);
      assertThat(log.records.getFirst().getThrown()).isNull();
      assertThat(log.records.getFirst().getMessage()).startsWith("POST / is refused: the ");
    }
  }

  /** The handler has got over the body; what it fails by then is its own. */
  @Test
  void aFailureAfterABadBodyIsTheHandlersOwn() throws Exception {
    CompletableFuture<String> again = new CompletableFuture<>();
    start(
        exchange -> {
          InputStream body = exchange.getRequestBody();
          String first = "";
          try {
            body.readAllBytes();
          } catch (IOException e) {
            first = e.getMessage();
          }
          try {
            body.readAllBytes();
          } catch (IOException e) {
            again.complete(e.getMessage().equals(first) ? "the same" : e.getMessage());
          }
          throw new IllegalStateException("a mistake in the program");
        });
    try (Log log = new Log()) {
      try (RawClient client = client()) {
        client.send(POST + "Transfer-Encoding: chunked\n\nzz\n1\na\n0\n\n");
        assertThat(client.receive().status()).isEqualTo(500);
      }
      assertThat(again.get()).isEqualTo("the same");
      assertThat(log.records).hasSize(1);
      assertThat(log.records.getFirst().getLevel()).isEqualTo(Level.WARNING);
      assertThat(log.records.getFirst().getThrown()).hasMessage("a mistake in the program");
    }
  }

  /** A client that waits to be told that it may send takes what follows for the response. */
  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 2})
  void aBodyThatWasNotAskedForCannotBeReadAfterTheResponse(int length) throws Exception {
    CompletableFuture<Throwable> seen = new CompletableFuture<>();
    start(
        exchange -> {
          exchange.sendResponseHeaders(403, length);
          try {
            exchange.getRequestBody().readAllBytes();
            seen.complete(new AssertionError("it was read"));
          } catch (IOException e) {
            seen.complete(e);
          }
          exchange.getResponseBody().write("no".getBytes(ISO_8859_1));
          exchange.close();
        });
    try (RawClient client = client()) {
      RawClient.Response response =
          client.send(POST + "Expect: 100-continue\nContent-Length: 5\n\n").receive();
      assertThat(response.status()).isEqualTo(403);
      assertThat(response.body()).isEqualTo(length < 0 ? "" : "no");
      assertThat(client.hasEndedCleanly()).isTrue();
    }
    assertThat(seen.get())
        .isInstanceOf(IOException.class)
        .hasMessageContaining(length < 0 ? "closed" : "100 Continue");
  }

  /** What is drained behind the response is not handed to a late reader as the end of the body. */
  @Test
  void aBodyCannotBeReadAfterTheEndOfTheExchange() throws Exception {
    CompletableFuture<Throwable> seen = new CompletableFuture<>();
    start(
        exchange -> {
          exchange.sendResponseHeaders(200, -1);
          try {
            seen.complete(new AssertionError(exchange.getRequestBody().read()));
          } catch (IOException e) {
            seen.complete(e);
          }
        });
    try (RawClient client = client()) {
      client.send(POST + "Content-Length: 5\n\nhello").receive();
      assertThat(client.send(GET).receive().status()).isEqualTo(200);
    }
    assertThat(seen.get()).isInstanceOf(IOException.class);
  }

  /** It has sent all before it looks: a reset connection would lose the answer. */
  @ParameterizedTest
  @ValueSource(strings = {"/", "/none"})
  void aClientThatUploadsMuchGetsItsAnswer(String path) throws Exception {
    server.createContext("/", exchange -> exchange.sendResponseHeaders(403, -1));
    server.start();
    int length = 8 << 20;
    try (RawClient client = client()) {
      client.send("POST " + path + " HTTP/1.1\nHost: x\nContent-Length: " + length + "\n\n");
      for (int i = 0; i < 8; i++) {
        client.sendExactly("x".repeat(length / 8));
      }
      assertThat(client.receive().status()).isEqualTo(403);
      assertThat(client.hasEnded()).isTrue();
    }
  }

  @Test
  void anAnswerToAHeadThatIsRefusedIsNotLostEither() throws Exception {
    start(exchange -> exchange.sendResponseHeaders(200, -1));
    try (RawClient client = client()) {
      client.send("POST / HTTP/1.1\nContent-Length: 4000000\n\n");
      client.sendExactly("x".repeat(4_000_000));
      assertThat(client.receive().status()).isEqualTo(400);
      assertThat(client.hasEnded()).isTrue();
    }
  }
}
