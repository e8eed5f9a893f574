package dev.weft.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.sun.net.httpserver.BasicAuthenticator;
import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.SimpleFileServer;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLSession;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The server as handlers and clients see it. */
@Feature("A2")
class HttpServerTest {
  private HttpServer server;

  @BeforeEach
  void create() throws IOException {
    server = HttpServer.create(loopback(), 0);
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private static InetSocketAddress loopback() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  private RawClient client() throws IOException {
    return new RawClient(server.getAddress());
  }

  private URI uri(String path) {
    return URI.create("http://localhost:" + server.getAddress().getPort() + path);
  }

  /** Starts it with one handler for all. */
  private void start(HttpHandler handler) {
    server.createContext("/", handler);
    server.start();
  }

  private static void answer(HttpExchange exchange, String text) throws IOException {
    byte[] body = text.getBytes(UTF_8);
    exchange.sendResponseHeaders(200, body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }

  private static void echo(HttpExchange exchange) throws IOException {
    try (InputStream in = exchange.getRequestBody();
        OutputStream out = exchange.getResponseBody()) {
      exchange.sendResponseHeaders(200, 0);
      in.transferTo(out);
    }
  }

  private static void readAndAnswer(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }

  private static String get(String path) {
    return "GET " + path + " HTTP/1.1\nHost: localhost\n\n";
  }

  // ---- serving ----

  @Test
  void theJdkFindsThisServer() throws Exception {
    assertThat(server).isInstanceOf(PlainServer.class);
    // @start region="hello"
    HttpServer hello = HttpServer.create(loopback(), 0);
    hello.createContext(
        "/hello",
        exchange -> {
          byte[] text = "hello from a fiber".getBytes(UTF_8);
          exchange.sendResponseHeaders(200, text.length);
          exchange.getResponseBody().write(text);
          exchange.close();
        });
    hello.start();
    // @end
    URI uri = URI.create("http://localhost:" + hello.getAddress().getPort() + "/hello");
    HttpResponse<String> response =
        HttpClient.newHttpClient()
            .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEqualTo("hello from a fiber");
    assertThat(response.headers().firstValue("date")).isPresent();
    hello.stop(0);
  }

  @Test
  void handlersRunInFibersOfTheSchedulerThatStartedIt() throws Exception {
    Scheduler own = Scheduler.builder().name("own").threads(1).build().start();
    AtomicReference<String> seen = new AtomicReference<>();
    server.createContext(
        "/",
        exchange -> {
          seen.set(Fiber.current().orElseThrow().scheduler().name());
          answer(exchange, "");
        });
    own.go(() -> server.start()).join();
    try (RawClient client = client()) {
      client.send(get("/")).receive();
    }
    assertThat(seen).hasValue("own");
    server.stop(0);
    assertThat(own.stop(Duration.ofSeconds(10))).as("nothing is left").isTrue();
  }

  @Test
  void handlersThatBlockHoldNoThread() throws Exception {
    int clients = 50;
    CyclicBarrier barrier = new CyclicBarrier(clients);
    Scheduler one = Scheduler.builder().threads(1).build().start();
    server.createContext(
        "/",
        exchange -> {
          try {
            barrier.await(); // all at once, on one thread
          } catch (Exception e) {
            throw new IOException(e);
          }
          answer(exchange, "met");
        });
    one.go(() -> server.start()).join();
    List<RawClient> all = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      all.add(client().send(get("/")));
    }
    for (RawClient client : all) {
      assertThat(client.receive().body()).isEqualTo("met");
      client.close();
    }
    server.stop(0);
    one.stop();
  }

  @Test
  void aConnectionIsKeptAndRequestsMayComeAllAtOnce() throws Exception {
    start(exchange -> answer(exchange, exchange.getRequestURI().toString()));
    try (RawClient client = client()) {
      assertThat(client.send(get("/one?a=b%20c")).receive().body()).isEqualTo("/one?a=b%20c");
      assertThat(client.send(get("/two")).receive().body()).isEqualTo("/two");
      StringBuilder many = new StringBuilder();
      for (int i = 0; i < 100; i++) {
        many.append(get("/" + i));
      }
      client.send(many.toString());
      for (int i = 0; i < 100; i++) {
        assertThat(client.receive().body()).isEqualTo("/" + i);
      }
      client.send("GET / HTTP/1.1\nHost: x\nConnection: close\n\n");
      assertThat(client.receive().headers()).containsEntry("connection", "close");
      assertThat(client.hasEnded()).isTrue();
    }
  }

  @Test
  void aRequestMayComeByteByByte() throws Exception {
    start(HttpServerTest::echo);
    try (RawClient client = client()) {
      String request =
          """
          POST / HTTP/1.1
          Host: x
          Transfer-Encoding: chunked

          3
          abc
          A;x=y
          0123456789
          0
          Trailer: 1

          """;
      for (int i = 0; i < request.length(); i++) {
        client.send(request.substring(i, i + 1));
      }
      assertThat(client.receive().body()).isEqualTo("abc0123456789");
    }
  }

  @Test
  void longBodiesGoBothWays() throws Exception {
    start(HttpServerTest::readAndAnswer);
    byte[] body = new byte[10_000_000];
    new Random(1).nextBytes(body);
    HttpClient client = HttpClient.newHttpClient();
    for (HttpRequest.BodyPublisher publisher :
        List.of(
            HttpRequest.BodyPublishers.ofByteArray(body),
            HttpRequest.BodyPublishers.fromPublisher(
                HttpRequest.BodyPublishers.ofByteArray(body)))) { // of unknown length: in chunks
      HttpRequest request = HttpRequest.newBuilder(uri("/")).POST(publisher).build();
      assertThat(client.send(request, HttpResponse.BodyHandlers.ofByteArray()).body())
          .isEqualTo(body);
    }
  }

  @Test
  void aClientThatExpects100ContinueGetsItWhenTheBodyIsRead() throws Exception {
    server.createContext("/read", HttpServerTest::echo);
    server.createContext("/refuse", exchange -> exchange.sendResponseHeaders(403, -1));
    server.start();
    String head = " HTTP/1.1\nHost: x\nExpect: 100-continue\nContent-Length: 3\n\n";
    try (RawClient client = client()) {
      assertThat(client.send("POST /read" + head).receive().status()).isEqualTo(100);
      assertThat(client.send("abc").receive().body()).isEqualTo("abc");
      assertThat(client.send("POST /refuse" + head).receive().status()).isEqualTo(403);
      assertThat(client.hasEnded()).as("what follows could be the body, or not").isTrue();
    }
  }

  @Test
  void aBodyThatNobodyReadsIsSkippedUpToALimit() throws Exception {
    start(exchange -> answer(exchange, "no, thanks"));
    try (RawClient client = client()) {
      for (int i = 0; i < 3; i++) {
        client.send("POST / HTTP/1.1\nHost: x\nContent-Length: 60000\n\n" + "x".repeat(60_000));
        assertThat(client.receive().body()).isEqualTo("no, thanks");
      }
      client.send("POST / HTTP/1.1\nHost: x\nContent-Length: 1000000\n\n" + "x".repeat(100_000));
      assertThat(client.receive().body()).isEqualTo("no, thanks");
      assertThat(client.hasEnded()).isTrue();
    }
  }

  @Test
  void aResponseWithoutABodyEndsWithItsHeaders() throws Exception {
    start(
        exchange -> {
          if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", "1234");
            exchange.sendResponseHeaders(200, -1);
            exchange.getResponseBody().write(1); // for nobody
          } else {
            exchange.sendResponseHeaders(
                Integer.parseInt(exchange.getRequestURI().getPath().substring(1)), -1);
          }
        });
    try (RawClient client = client()) {
      client.send("HEAD / HTTP/1.1\nHost: x\n\n");
      assertThat(client.receive(true).headers()).containsEntry("content-length", "1234");
      assertThat(client.send(get("/204")).receive().headers()).doesNotContainKey("content-length");
      assertThat(client.send(get("/304")).receive().headers()).doesNotContainKey("content-length");
      assertThat(client.send(get("/404")).receive().headers()).containsEntry("content-length", "0");
      assertThat(client.send(get("/200")).receive().status()).isEqualTo(200);
    }
  }

  @Test
  void oldClientsAreServed() throws Exception {
    start(
        exchange -> {
          if (exchange.getRequestURI().getPath().equals("/unknown")) {
            echo(exchange);
          } else {
            answer(exchange, exchange.getProtocol());
          }
        });
    try (RawClient client = client()) {
      client.send("GET / HTTP/1.0\nConnection: keep-alive\n\n");
      RawClient.Response kept = client.receive();
      assertThat(kept.body()).isEqualTo("HTTP/1.0");
      assertThat(kept.headers()).containsEntry("connection", "keep-alive");
      client.send("GET / HTTP/1.0\n\n");
      assertThat(client.receive().headers()).containsEntry("connection", "close");
      assertThat(client.hasEnded()).isTrue();
    }
    try (RawClient client = client()) {
      client.send("POST /unknown HTTP/1.0\nContent-Length: 3\n\nabc");
      RawClient.Response response = client.receive();
      assertThat(response.headers()).doesNotContainKeys("transfer-encoding", "content-length");
      assertThat(response.body()).isEqualTo("abc");
    }
  }

  @Test
  void theJdksFileHandlerRunsOnIt(@TempDir Path folder) throws Exception {
    Files.writeString(folder.resolve("page.html"), "<p>page</p>");
    start(SimpleFileServer.createFileHandler(folder.toRealPath()));
    try (RawClient client = client()) {
      RawClient.Response page = client.send(get("/page.html")).receive();
      assertThat(page.body()).isEqualTo("<p>page</p>");
      assertThat(page.headers()).containsEntry("content-type", "text/html");
      assertThat(client.send(get("/")).receive().body()).contains("page.html");
      assertThat(client.send(get("/none")).receive().status()).isEqualTo(404);
    }
  }

  // ---- contexts, filters, authenticators ----

  @Test
  void theLongestPathIsServed() throws Exception {
    for (String path : List.of("/a", "/", "/a/b", "/a/bc")) {
      server.createContext(path, exchange -> answer(exchange, path));
    }
    HttpContext late = server.createContext("/late");
    server.start();
    try (RawClient client = client()) {
      assertThat(client.send(get("/")).receive().body()).isEqualTo("/");
      assertThat(client.send(get("/x?/a")).receive().body()).isEqualTo("/");
      assertThat(client.send(get("/a/b/c")).receive().body()).isEqualTo("/a/b");
      assertThat(client.send(get("/a/bcd")).receive().body()).isEqualTo("/a/bc");
      assertThat(client.send(get("/ab")).receive().body()).isEqualTo("/a");
      assertThat(client.send(get("/%61/b")).receive().body()).isEqualTo("/a/b");
      assertThat(client.send("GET http://x/a HTTP/1.1\nHost: x\n\n").receive().body())
          .isEqualTo("/a");
      server.removeContext("/a/b");
      assertThat(client.send(get("/a/b")).receive().body()).isEqualTo("/a");
      late.setHandler(exchange -> answer(exchange, "late"));
      assertThat(client.send(get("/late")).receive().body()).isEqualTo("late");
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> server.createContext("/a"))
        .withMessage("there is a context /a already");
    assertThatIllegalArgumentException().isThrownBy(() -> server.createContext("a"));
    assertThatIllegalArgumentException().isThrownBy(() -> server.removeContext("/none"));
    assertThatIllegalArgumentException().isThrownBy(() -> late.setHandler(HttpServerTest::echo));
    server.removeContext(late);
    assertThatIllegalArgumentException().isThrownBy(() -> server.removeContext(late));
  }

  @Test
  void whereNothingIsItSaysSo() throws Exception {
    server.createContext("/empty");
    server.start();
    try (RawClient client = client()) {
      RawClient.Response response = client.send(get("/none")).receive();
      assertThat(response.status()).isEqualTo(404);
      assertThat(response.body()).isEqualTo("there is nothing at /none\n");
      client.send("HEAD /none HTTP/1.1\nHost: x\n\n" + get("/empty"));
      assertThat(client.receive(true).headers()).containsEntry("content-length", "26");
      assertThat(client.receive().status()).isEqualTo(500);
      client.send("POST /none HTTP/1.1\nHost: x\nContent-Length: 3\n\nabc" + get("/none"));
      assertThat(client.receive().status()).isEqualTo(404);
      assertThat(client.receive().status()).isEqualTo(404);
    }
  }

  @Test
  void filtersMayWrapTheStreams() throws Exception {
    HttpContext context =
        server.createContext("/", exchange -> answer(exchange, "x".repeat(10_000)));
    context
        .getFilters()
        .add(
            Filter.beforeHandler(
                "marks", exchange -> exchange.getResponseHeaders().set("X-Mark", "1")));
    context
        .getFilters()
        .add(
            new Filter() {
              @Override
              public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
                exchange.getResponseHeaders().set("Content-Encoding", "gzip");
                chain.doFilter(new Zipped(exchange));
              }

              @Override
              public String description() {
                return "zips";
              }
            });
    server.start();
    HttpResponse<InputStream> response =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(uri("/")).build(),
                HttpResponse.BodyHandlers.ofInputStream());
    assertThat(response.headers().firstValue("x-mark")).contains("1");
    try (InputStream body = new java.util.zip.GZIPInputStream(response.body())) {
      assertThat(new String(body.readAllBytes(), UTF_8)).isEqualTo("x".repeat(10_000));
    }
  }

  /** An exchange whose body is zipped on its way. */
  private static final class Zipped extends DelegatingExchange {
    Zipped(HttpExchange exchange) {
      super(exchange);
    }

    @Override
    public SSLSession getSSLSession() {
      throw new UnsupportedOperationException("the connection is not encrypted");
    }

    @Override
    public void sendResponseHeaders(int code, long length) throws IOException {
      super.sendResponseHeaders(code, 0);
      setStreams(null, new GZIPOutputStream(getResponseBody()));
    }
  }

  @Test
  void authenticatorsAreAsked() throws Exception {
    HttpContext context =
        server.createContext(
            "/", exchange -> answer(exchange, exchange.getPrincipal().getUsername()));
    context.setAuthenticator(
        new BasicAuthenticator("realm") {
          @Override
          public boolean checkCredentials(String user, String password) {
            return password.equals("secret");
          }
        });
    server.start();
    try (RawClient client = client()) {
      RawClient.Response refused = client.send(get("/")).receive();
      assertThat(refused.status()).isEqualTo(401);
      assertThat(refused.headers()).containsKey("www-authenticate");
      for (String password : List.of("wrong", "secret")) {
        String credentials =
            Base64.getEncoder().encodeToString(("ann:" + password).getBytes(UTF_8));
        client.send("GET / HTTP/1.1\nHost: x\nAuthorization: Basic " + credentials + "\n\n");
        RawClient.Response response = client.receive();
        assertThat(response.status()).isEqualTo(password.equals("secret") ? 200 : 401);
        assertThat(response.body()).isEqualTo(password.equals("secret") ? "ann" : "");
      }
    }
  }

  // ---- executors ----

  @Test
  void anExecutorThatIsSetRunsTheHandlers() throws Exception {
    AtomicReference<Thread> ran = new AtomicReference<>();
    server.setExecutor(task -> Thread.ofPlatform().name("mine").start(task));
    start(
        exchange -> {
          ran.set(Thread.currentThread());
          echo(exchange);
        });
    try (RawClient client = client()) {
      for (int i = 0; i < 3; i++) {
        client.send("POST / HTTP/1.1\nHost: x\nContent-Length: 3\n\nabc");
        assertThat(client.receive().body()).isEqualTo("abc");
        assertThat(ran.get().getName()).isEqualTo("mine");
        assertThat(ran.get().isVirtual()).isFalse();
      }
    }
  }

  @Test
  void anExecutorThatRefusesIsAnAnswerToo() throws Exception {
    server.setExecutor(
        task -> {
          throw new RejectedExecutionException("full");
        });
    start(HttpServerTest::echo);
    try (RawClient client = client()) {
      assertThat(client.send(get("/")).receive().status()).isEqualTo(503);
    }
  }

  @Test
  void aHandlerMayLeaveTheRestToOthers() throws Exception {
    CompletableFuture<HttpExchange> left = new CompletableFuture<>();
    start(left::complete);
    try (RawClient client = client()) {
      client.send(get("/") + get("/"));
      HttpExchange exchange = left.get();
      answer(exchange, "later");
      assertThat(client.receive().body()).isEqualTo("later");
    }
  }

  // ---- what goes wrong ----

  @Test
  void aHandlerThatFailsHurtsNobody() throws Exception {
    server.createContext("/fine", exchange -> answer(exchange, "fine"));
    server.createContext(
        "/exception",
        exchange -> {
          exchange.getResponseHeaders().set("X-Secret", "1");
          throw new IllegalStateException("on purpose");
        });
    server.createContext(
        "/error",
        exchange -> {
          throw new StackOverflowError("on purpose");
        });
    server.createContext(
        "/late",
        exchange -> {
          exchange.sendResponseHeaders(200, 100);
          exchange.getResponseBody().write(1);
          exchange.getResponseBody().flush();
          throw new IOException("on purpose");
        });
    server.start();
    try (RawClient other = client()) {
      for (String path : List.of("/exception", "/error")) {
        try (RawClient client = client()) {
          RawClient.Response response = client.send(get(path)).receive();
          assertThat(response.status()).isEqualTo(500);
          assertThat(response.headers()).doesNotContainKey("x-secret");
          assertThat(client.hasEnded()).isTrue();
        }
        assertThat(other.send(get("/fine")).receive().body()).isEqualTo("fine");
      }
      try (RawClient client = client()) {
        assertThat(client.send(get("/late")).receive().body()).as("cut off").hasSize(1);
      }
      assertThat(other.send(get("/fine")).receive().body()).isEqualTo("fine");
    }
  }

  @Test
  void bodiesThatAreNotAsAnnouncedAreRefused() throws Exception {
    CompletableFuture<List<Throwable>> failures = new CompletableFuture<>();
    start(
        exchange -> {
          List<Throwable> seen = new ArrayList<>();
          OutputStream body = exchange.getResponseBody();
          seen.add(failure(() -> body.write(1)));
          exchange.sendResponseHeaders(200, 3);
          seen.add(failure(() -> exchange.sendResponseHeaders(200, 3)));
          seen.add(failure(() -> body.write(new byte[4])));
          body.write(1);
          seen.add(failure(body::close));
          seen.add(failure(() -> body.write(1)));
          failures.complete(seen);
        });
    try (RawClient client = client()) {
      client.send(get("/"));
      assertThat(failures.get())
          .extracting(Throwable::getMessage)
          .containsExactly(
              "the headers have not been sent yet: call sendResponseHeaders first",
              "headers already sent",
              "too many bytes: 1 more than sendResponseHeaders was told",
              "2 bytes are missing of those that sendResponseHeaders was told",
              "the body of the response has been closed");
    }
  }

  private interface Failing {
    void run() throws Exception;
  }

  private static Throwable failure(Failing action) {
    try {
      action.run();
      return new AssertionError("did not fail");
    } catch (Exception e) {
      return e;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "400, GET /",
    "400, GET  HTTP/1.1",
    "400, ' GET / HTTP/1.1'",
    "400, G(T / HTTP/1.1",
    "400, 'GET / HTTP/1.1 '",
    "400, GET / http/1.1",
    "400, GET /% HTTP/1.1",
    "400, GET mailto:x HTTP/1.1",
    "505, GET / HTTP/2.0",
    "400, 'GET / HTTP/1.1\nHost: x\nNo colon'",
    "400, 'GET / HTTP/1.1\nHost: x\nName : x'",
    "400, 'GET / HTTP/1.1\nHost: x\n: x'",
    "400, 'GET / HTTP/1.1\nHost: x\nA: b\n folded'",
    "400, 'POST / HTTP/1.1\nHost: x\nContent-Length: x'",
    "400, 'POST / HTTP/1.1\nHost: x\nContent-Length: -1'",
    "400, 'POST / HTTP/1.1\nHost: x\nContent-Length: +1'",
    "400, 'POST / HTTP/1.1\nHost: x\nContent-Length: 1\nContent-Length: 1'",
    "400, 'POST / HTTP/1.1\nHost: x\nContent-Length: 1\nTransfer-Encoding: chunked'",
    "400, 'POST / HTTP/1.1\nHost: x\nContent-Length: 99999999999999999999'",
    "400, 'POST / HTTP/1.1\nHost: x\nTransfer-Encoding: gzip'",
    "400, 'POST / HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\nTransfer-Encoding: chunked'",
    "501, 'POST / HTTP/1.1\nHost: x\nTransfer-Encoding: gzip\nTransfer-Encoding: chunked'",
    "417, 'POST / HTTP/1.1\nHost: x\nExpect: miracles'",
  })
  void badRequestsAreRefused(int status, String head) throws Exception {
    start(HttpServerTest::echo);
    try (RawClient client = client()) {
      RawClient.Response response = client.send(head + "\n\n").receive();
      assertThat(response.status()).isEqualTo(status);
      assertThat(response.body()).isNotBlank();
      assertThat(client.hasEnded()).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"zz", "'\n'", "-1", "1;x\nab\n", "fffffffffffffffff", "3\nabcd"})
  void brokenChunksEndTheConnection(String body) throws Exception {
    CompletableFuture<Throwable> seen = new CompletableFuture<>();
    start(
        exchange -> {
          try {
            exchange.getRequestBody().readAllBytes();
            seen.complete(new AssertionError("it was read"));
          } catch (IOException e) {
            seen.complete(e);
            throw e;
          }
        });
    try (RawClient client = client()) {
      client.send("POST / HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n" + body + "\n").end();
      assertThat(client.receive().status()).isEqualTo(400);
      assertThat(client.hasEnded()).isTrue();
    }
    assertThat(seen.get()).isInstanceOf(IOException.class);
  }

  @Test
  void clientsThatVanishHurtNobody() throws Exception {
    CountDownLatch failed = new CountDownLatch(1);
    server.createContext("/fine", exchange -> answer(exchange, "fine"));
    server.createContext(
        "/endless",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (OutputStream out = exchange.getResponseBody()) {
            while (true) {
              out.write(new byte[100_000]);
            }
          } catch (IOException e) {
            failed.countDown();
            throw e;
          }
        });
    server.start();
    try (RawClient client = client()) {
      client.send(get("/endless")).send("");
    }
    try (RawClient client = client()) {
      client.send("POST /fine HTTP/1.1\nHost: x\nContent-Length: 100\n\nabc");
    }
    try (RawClient client = client()) {
      client.send("GET /fi").end();
      assertThat(client.receive().status()).isEqualTo(400);
    }
    failed.await();
    try (RawClient client = client()) {
      assertThat(client.send(get("/fine")).receive().body()).isEqualTo("fine");
    }
  }

  // ---- limits ----

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

  @Test
  void headersAreLimited() throws Exception {
    start(HttpServerTest::echo);
    try (RawClient client = client()) {
      client.sendExactly("GET / HTTP/1.1\r\nHost: x\r\nA: " + "x".repeat(400_000));
      assertThat(client.receive().status()).isEqualTo(431);
    }
    try (RawClient client = client()) {
      client.sendExactly("GET /" + "x".repeat(400_000));
      assertThat(client.receive().status()).isEqualTo(414);
    }
    try (RawClient client = client()) {
      client.send("GET / HTTP/1.1\nHost: x\n" + "A: b\n".repeat(200) + "\n");
      assertThat(client.receive().status()).isEqualTo(431);
    }
    try (RawClient client = client()) {
      client.send("GET / HTTP/1.1\nHost: x\n" + "A: b\n".repeat(199) + "\n");
      assertThat(client.receive().status()).isEqualTo(200);
      client.send("GET / HTTP/1.1\nHost: x\nA: " + "x".repeat(100_000) + "\n\n");
      assertThat(client.receive().status()).isEqualTo(200);
    }
  }

  @Test
  void bodiesAreLimitedIfAsked() throws Exception {
    with(
        "weft.http.maxBody",
        "10",
        () -> {
          start(HttpServerTest::readAndAnswer);
          try (RawClient client = client()) {
            client.send("POST / HTTP/1.1\nHost: x\nContent-Length: 10\n\n0123456789");
            assertThat(client.receive().body()).hasSize(10);
            client.send("POST / HTTP/1.1\nHost: x\nContent-Length: 11\n\n");
            assertThat(client.receive().status()).isEqualTo(413);
          }
          try (RawClient client = client()) {
            client.send(
                "POST / HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n9\n012345678\n2\n01\n0\n\n");
            assertThat(client.receive().status()).isEqualTo(413);
            assertThat(client.hasEnded()).isTrue();
          }
        });
  }

  @Test
  void connectionsAreLimitedIfAsked() throws Exception {
    with(
        "jdk.httpserver.maxConnections",
        "1",
        () -> {
          start(exchange -> answer(exchange, "served"));
          try (RawClient second = waiting(client().send(get("/")))) {
            assertThat(second.receive().body()).isEqualTo("served");
          }
        });
  }

  /** Returns a second client, which is served once the first has gone. */
  private RawClient waiting(RawClient first) throws IOException {
    try (first) {
      assertThat(first.receive().body()).isEqualTo("served");
      return client().send(get("/"));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "sun.net.httpserver.idleInterval, ''",
    "weft.http.maxHeadTime, GET / HT",
    "sun.net.httpserver.maxReqTime, 'POST / HTTP/1.1\nHost: x\nContent-Length: 10\n\nabc'",
    "sun.net.httpserver.maxRspTime, 'GET /slow HTTP/1.1\nHost: x\n\n'"
  })
  void timeIsLimited(String property, String sent) throws Exception {
    with(
        property,
        "1",
        () -> {
          CountDownLatch never = new CountDownLatch(1);
          server.createContext("/", exchange -> exchange.getRequestBody().readAllBytes());
          server.createContext(
              "/slow",
              exchange -> {
                try {
                  never.await();
                } catch (InterruptedException e) {
                  throw new IOException(e);
                }
              });
          server.start();
          long start = System.nanoTime();
          try (RawClient client = client()) {
            assertThat(client.send(sent).hasEnded()).isTrue();
          }
          assertThat(Duration.ofNanos(System.nanoTime() - start))
              .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(15));
          never.countDown();
        });
  }

  @Test
  void aLimitThatIsNoNumberIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> with("weft.http.maxBody", "lots", () -> {}))
        .withMessage("-Dweft.http.maxBody must be a whole number, not lots");
  }

  // ---- life ----

  @Test
  void stopWaitsForRequestsUnderWay() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    start(
        exchange -> {
          entered.countDown();
          try {
            go.await();
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
          answer(exchange, "done");
        });
    InetSocketAddress address = server.getAddress();
    try (RawClient idle = client();
        RawClient client = client()) {
      client.send(get("/"));
      entered.await();
      Thread stopping = Thread.ofPlatform().start(() -> server.stop(20));
      assertThat(idle.hasEnded()).as("a connection without a request is closed at once").isTrue();
      go.countDown();
      RawClient.Response last = client.receive();
      assertThat(last.body()).isEqualTo("done");
      assertThat(last.headers()).containsEntry("connection", "close");
      stopping.join();
      assertThat(client.hasEnded()).isTrue();
    }
    assertThatIOException().isThrownBy(() -> new RawClient(address));
    server.stop(0);
  }

  @Test
  void stopClosesWhatTakesTooLong() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CompletableFuture<Throwable> seen = new CompletableFuture<>();
    start(
        exchange -> {
          entered.countDown();
          seen.complete(failure(() -> exchange.getRequestBody().readAllBytes()));
        });
    try (RawClient client = client()) {
      client.send("POST / HTTP/1.1\nHost: x\nContent-Length: 10\n\n");
      entered.await();
      server.stop(0);
      assertThat(client.hasEnded()).isTrue();
      assertThat(seen.get()).isInstanceOf(IOException.class);
    }
  }

  @Test
  void mistakesAreNamed() throws Exception {
    HttpServer unbound = HttpServer.create();
    assertThat(unbound.getAddress()).isNull();
    assertThatIllegalStateException()
        .isThrownBy(unbound::start)
        .withMessage("cannot start a server that is not bound: call bind first");
    unbound.bind(loopback(), 10);
    assertThatExceptionOfType(BindException.class)
        .isThrownBy(() -> unbound.bind(loopback(), 10))
        .withMessageStartingWith("the server is bound already");
    assertThatExceptionOfType(BindException.class)
        .isThrownBy(() -> HttpServer.create(unbound.getAddress(), 0));
    unbound.start();
    assertThatIllegalStateException().isThrownBy(unbound::start);
    assertThatIllegalStateException().isThrownBy(() -> unbound.setExecutor(Runnable::run));
    assertThatIllegalArgumentException().isThrownBy(() -> unbound.stop(-1));
    unbound.stop(0);
    assertThatIllegalStateException().isThrownBy(unbound::start);
  }
}
