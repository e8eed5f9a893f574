package dev.weft.http;

import static dev.weft.http.WebSocketFrames.BINARY;
import static dev.weft.http.WebSocketFrames.CLOSE;
import static dev.weft.http.WebSocketFrames.CONTINUATION;
import static dev.weft.http.WebSocketFrames.PING;
import static dev.weft.http.WebSocketFrames.TEXT;
import static dev.weft.http.WebSockets.FIN;
import static dev.weft.http.WebSockets.bytes;
import static dev.weft.http.WebSockets.close;
import static dev.weft.http.WebSockets.frame;
import static dev.weft.http.WebSockets.join;
import static dev.weft.http.WebSockets.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.weft.Fiber;
import dev.weft.Weft;
import dev.weft.http.WebSockets.Sent;
import dev.weft.testkit.Certificate;
import dev.weft.testkit.Feature;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** WebSockets of the server, over loopback; clients are the JDK's, and bytes by hand. */
@Feature("A3")
class WebSocketTest {
  private static final int LIMIT_SECONDS = 30;
  private static final String KEY = "dGhlIHNhbXBsZSBub25jZQ==";
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  // @start region="messages"
  private static final WebSocketHandler ECHO =
      socket -> {
        Optional<WebSocket.Message> next = socket.receive();
        while (next.isPresent()) {
          switch (next.get()) {
            case WebSocket.Text(String text) -> socket.send(text);
            case WebSocket.Binary(byte[] bytes) -> socket.send(bytes);
          }
          next = socket.receive();
        }
      };

  // @end

  private final List<HttpServer> servers = new ArrayList<>();

  // what handlers have to tell
  private final BlockingQueue<Object> told = new LinkedBlockingQueue<>();

  @AfterEach
  void stop() {
    servers.forEach(server -> server.stop(0));
  }

  @AfterAll
  static void closeClient() {
    CLIENT.shutdownNow();
  }

  // ---- both sides ----

  private URI serve(WebSocketHandler handler) throws IOException {
    return serveHttp(WebSocket.handler(handler));
  }

  private URI serveHttp(HttpHandler handler) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    servers.add(server);
    server.createContext("/chat", handler);
    server.start();
    return uri(server, "/chat");
  }

  private static URI uri(HttpServer server, String path) {
    return URI.create("ws://127.0.0.1:" + server.getAddress().getPort() + path);
  }

  private static Object next(BlockingQueue<Object> queue) throws InterruptedException {
    Object next = queue.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
    return next == null ? "nothing" : next;
  }

  /** The JDK's client, and all that it hears: texts, buffers, and lines about the rest. */
  private static final class Client implements java.net.http.WebSocket.Listener {
    private final BlockingQueue<Object> heard = new LinkedBlockingQueue<>();
    private final StringBuilder text = new StringBuilder();
    private final ByteArrayOutputStream binary = new ByteArrayOutputStream();
    private final java.net.http.WebSocket socket;

    Client(URI uri, String... subprotocols) throws Exception {
      this(CLIENT, uri, subprotocols);
    }

    Client(HttpClient client, URI uri, String... subprotocols) throws Exception {
      java.net.http.WebSocket.Builder builder = client.newWebSocketBuilder();
      if (subprotocols.length > 0) {
        String[] others = Stream.of(subprotocols).skip(1).toArray(String[]::new);
        builder.subprotocols(subprotocols[0], others);
      }
      socket = builder.buildAsync(uri, this).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    Object next() throws InterruptedException {
      return WebSocketTest.next(heard);
    }

    Client send(String message) throws Exception {
      socket.sendText(message, true).get(LIMIT_SECONDS, TimeUnit.SECONDS);
      return this;
    }

    Client send(byte[] message) throws Exception {
      socket.sendBinary(ByteBuffer.wrap(message), true).get(LIMIT_SECONDS, TimeUnit.SECONDS);
      return this;
    }

    void close(int code, String reason) throws Exception {
      socket.sendClose(code, reason).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public @Nullable CompletionStage<?> onText(
        java.net.http.WebSocket from, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        heard.add(text.toString());
        text.setLength(0);
      }
      from.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onBinary(
        java.net.http.WebSocket from, ByteBuffer data, boolean last) {
      byte[] part = new byte[data.remaining()];
      data.get(part);
      binary.writeBytes(part);
      if (last) {
        heard.add(ByteBuffer.wrap(binary.toByteArray()));
        binary.reset();
      }
      from.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onPong(java.net.http.WebSocket from, ByteBuffer data) {
      heard.add("pong " + StandardCharsets.UTF_8.decode(data));
      from.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(
        java.net.http.WebSocket from, int code, String reason) {
      heard.add("close " + code + " " + reason);
      return null;
    }

    @Override
    public void onError(java.net.http.WebSocket from, Throwable error) {
      heard.add(error);
    }
  }

  /** A client that writes its bytes by hand. */
  private record Raw(Socket socket) implements AutoCloseable {
    static Raw connect(URI uri) throws IOException {
      Socket socket = new Socket(InetAddress.getLoopbackAddress(), uri.getPort());
      socket.setSoTimeout(LIMIT_SECONDS * 1000);
      return new Raw(socket);
    }

    /** Connects and is let in. */
    static Raw open(URI uri) throws IOException {
      Raw raw = connect(uri);
      raw.send(bytes(request()));
      assertThat(raw.head()).startsWith("HTTP/1.1 101 Switching Protocols\r\n");
      return raw;
    }

    Raw send(byte[]... parts) throws IOException {
      socket.getOutputStream().write(join(parts));
      return this;
    }

    /** Reads the head of a response. */
    String head() throws IOException {
      StringBuilder head = new StringBuilder();
      InputStream in = socket.getInputStream();
      while (head.length() < 4 || head.lastIndexOf("\r\n\r\n") != head.length() - 4) {
        int next = in.read();
        if (next < 0) {
          throw new EOFException("after " + head);
        }
        head.append((char) next);
      }
      return head.toString();
    }

    Sent next() throws IOException {
      return Sent.read(socket.getInputStream());
    }

    boolean isAtEnd() throws IOException {
      return socket.getInputStream().read() < 0;
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  /** A request that is as it should be, but for changes: what is replaced, and by what. */
  private static String request(String... changes) {
    String request =
        """
        GET /chat?room=7 HTTP/1.1
        Host: localhost
        Upgrade: websocket
        Connection: keep-alive, Upgrade
        Sec-WebSocket-Key: %s
        Sec-WebSocket-Version: 13

        """
            .formatted(KEY)
            .replace("\n", "\r\n");
    for (int i = 0; i < changes.length; i += 2) {
      assertThat(request).contains(changes[i]);
      request = request.replace(changes[i], changes[i + 1]);
    }
    return request;
  }

  // ---- messages ----

  @Test
  void echoesText() throws Exception {
    // @start region="echo"
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/echo",
        WebSocket.handler(
            socket -> {
              Optional<String> text = socket.receiveText(); // waits without a thread
              while (text.isPresent()) {
                socket.send(text.get());
                text = socket.receiveText();
              }
            }));
    server.start();
    // @end
    servers.add(server);
    assertThat(server.getClass().getPackageName()).isEqualTo("dev.weft.http");
    Client client = new Client(uri(server, "/echo"));
    for (String text : List.of("hello", "", "gr\u00FC\u00DFe \uD83D\uDE42", "x".repeat(100_000))) {
      assertThat(client.send(text).next()).isEqualTo(text);
    }
  }

  @Test
  void echoesBinaryUpToTheLimit() throws Exception {
    Client client = new Client(serve(ECHO));
    for (int length : new int[] {0, 1, 125, 126, 65_535, 65_536, 1 << 20}) {
      byte[] bytes = new byte[length];
      new Random(length).nextBytes(bytes);
      assertThat(client.send(bytes).next()).isEqualTo(ByteBuffer.wrap(bytes));
    }
  }

  @Test
  void echoesWhatComesInFragments() throws Exception {
    Client client = new Client(serve(ECHO));
    client.socket.sendText("one ", false).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    client.socket.sendPing(ByteBuffer.wrap(bytes("between"))).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    client.socket.sendText("two ", false).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    client.send("three");
    assertThat(client.next()).isEqualTo("pong between");
    assertThat(client.next()).isEqualTo("one two three");
  }

  @Test
  void framesThatComeByteForByteOrWithTheRequestAreTheSame() throws Exception {
    URI uri = serve(ECHO);
    byte[] message = join(frame(TEXT, bytes("on")), frame(FIN | CONTINUATION, bytes("e")));
    try (Raw raw = Raw.connect(uri)) {
      raw.socket().setTcpNoDelay(true);
      raw.send(bytes(request()), message);
      assertThat(raw.head())
          .startsWith("HTTP/1.1 101 Switching Protocols\r\n")
          .containsIgnoringCase("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")
          .containsIgnoringCase("\r\nUpgrade: websocket\r\n")
          .containsIgnoringCase("\r\nConnection: Upgrade\r\n")
          .doesNotContainIgnoringCase("Sec-WebSocket-Protocol");
      assertThat(raw.next()).hasToString("text one");
      for (byte one : message) {
        raw.send(new byte[] {one});
      }
      assertThat(raw.next()).hasToString("text one");
    }
  }

  @Test
  void theHandlerSeesTheRequest() throws Exception {
    URI uri =
        serve(
            socket -> {
              told.add(socket.uri());
              told.add(socket.requestHeaders().getFirst("Host"));
              told.add(socket.subprotocol());
              told.add(socket.toString());
            });
    try (Raw raw = Raw.open(uri)) {
      assertThat(next(told)).isEqualTo(URI.create("/chat?room=7"));
      assertThat(next(told)).isEqualTo("localhost");
      assertThat(next(told)).isEqualTo(Optional.empty());
      assertThat(next(told))
          .isEqualTo("WebSocket /chat?room=7 of /127.0.0.1:" + raw.socket().getLocalPort());
    }
  }

  @Test
  void pingsGoBothWays() throws Exception {
    Client client =
        new Client(
            serve(
                socket -> {
                  socket.ping(bytes("ping of the server"));
                  ECHO.handle(socket);
                }));
    client.socket.sendPing(ByteBuffer.wrap(bytes("ping"))).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    assertThat(client.next()).isEqualTo("pong ping");
    assertThat(client.send("after it").next()).isEqualTo("after it");
  }

  @Test
  void manySendWhileOneReceives() throws Exception {
    int senders = 4;
    int each = 200;
    URI uri =
        serve(
            socket -> {
              List<Fiber<Void>> fibers = new ArrayList<>();
              for (int i = 0; i < senders; i++) {
                String letter = Character.toString('a' + i);
                fibers.add(
                    Weft.go(
                        () -> {
                          for (int k = 0; k < each; k++) {
                            socket.send(letter.repeat(1 + k * 100));
                          }
                        }));
              }
              ECHO.handle(socket);
              for (Fiber<Void> fiber : fibers) {
                fiber.join();
              }
            });
    try (Raw raw = Raw.open(uri)) {
      int[] seen = new int[senders];
      for (int i = 0; i < senders * each; i++) {
        if (i % 100 == 0) {
          raw.send(text("echo"));
        }
        String text = raw.next().text();
        if (text.equals("echo")) {
          i--;
        } else {
          int sender = text.charAt(0) - 'a';
          assertThat(text).isEqualTo(text.substring(0, 1).repeat(1 + seen[sender]++ * 100));
        }
      }
      assertThat(seen).containsOnly(each);
    }
  }

  @Test
  void aHundredAtOnceAndEachHearsEachOther() throws Exception {
    int count = 100;
    Set<WebSocket> members = ConcurrentHashMap.newKeySet();
    CountDownLatch there = new CountDownLatch(count);
    URI uri =
        serve(
            socket -> {
              members.add(socket);
              there.countDown();
              Optional<String> text = socket.receiveText();
              while (text.isPresent()) {
                for (WebSocket member : members) {
                  member.send(text.get());
                }
                text = socket.receiveText();
              }
              members.remove(socket);
            });
    List<Client> clients = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      clients.add(new Client(uri));
    }
    assertThat(there.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    for (int i = 0; i < 10; i++) {
      clients.get(i).send("from " + i);
      for (Client client : clients) {
        assertThat(client.next()).isEqualTo("from " + i);
      }
    }
    for (Client client : clients) {
      client.close(1000, "bye");
      assertThat(client.next()).isEqualTo("close 1000 bye");
    }
  }

  @Test
  void aReceiveThatGaveUpLosesNothing() throws Exception {
    URI uri =
        serve(
            socket -> {
              try {
                Weft.withTimeout(Duration.ofMillis(30), socket::receive);
              } catch (TimeoutException e) {
                told.add("silent");
              }
              told.add(socket.receiveText());
            });
    try (Raw raw = Raw.open(uri)) {
      byte[] message = text("in two parts");
      raw.send(Arrays.copyOf(message, 9));
      assertThat(next(told)).isEqualTo("silent");
      raw.send(Arrays.copyOfRange(message, 9, message.length));
      assertThat(next(told)).isEqualTo(Optional.of("in two parts"));
    }
  }

  @Test
  void overTls() throws Exception {
    Certificate certificate = Certificate.shared();
    HttpsServer server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    servers.add(server);
    server.setHttpsConfigurator(new HttpsConfigurator(certificate.owner()));
    server.createContext("/chat", WebSocket.handler(tellingTheEnd()));
    server.start();
    URI uri = URI.create("wss://127.0.0.1:" + server.getAddress().getPort() + "/chat");
    try (HttpClient https = HttpClient.newBuilder().sslContext(certificate.stranger()).build()) {
      Client client = new Client(https, uri);
      assertThat(client.send("hello").next()).isEqualTo("hello");
      byte[] bytes = new byte[1 << 20];
      new Random(1).nextBytes(bytes);
      assertThat(client.send(bytes).next()).isEqualTo(ByteBuffer.wrap(bytes));
      client.close(4000, "bye");
      assertThat(client.next()).isEqualTo("close 4000 bye");
      assertThat(next(told)).isEqualTo("4000 bye");
      https.shutdownNow();
    }
  }

  @Test
  void handlersMayRunOnPlainThreads() throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    servers.add(server);
    server.createContext("/chat", WebSocket.handler(ECHO));
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      server.setExecutor(threads);
      server.start();
      Client client = new Client(uri(server, "/chat"));
      assertThat(client.send("hello").next()).isEqualTo("hello");
      client.close(1000, "bye");
      assertThat(client.next()).isEqualTo("close 1000 bye");
    }
  }

  // ---- closing ----

  private WebSocketHandler tellingTheEnd() {
    return socket -> {
      ECHO.handle(socket);
      told.add(socket.closeCode().orElse(0) + " " + socket.closeReason());
      told.add(socket.isOpen());
    };
  }

  @Test
  void theClientCloses() throws Exception {
    Client client = new Client(serve(tellingTheEnd()));
    client.close(4321, "that was all");
    assertThat(next(told)).isEqualTo("4321 that was all");
    assertThat(next(told)).isEqualTo(false);
    assertThat(client.next()).isEqualTo("close 4321 that was all");
  }

  @Test
  void theConnectionEndsRightAfterTheAnswerToAClose() throws Exception {
    try (Raw raw = Raw.open(serve(tellingTheEnd()))) {
      raw.send(frame(FIN | CLOSE, new byte[0]));
      assertThat(raw.next()).hasToString("close");
      assertThat(raw.isAtEnd()).isTrue();
      assertThat(next(told)).isEqualTo("1005 ");
    }
  }

  @Test
  void theServerClosesWhenTheHandlerReturns() throws Exception {
    Client client = new Client(serve(socket -> socket.send("only this")));
    assertThat(client.next()).isEqualTo("only this");
    assertThat(client.next()).isEqualTo("close 1000 ");
  }

  @Test
  void theServerClosesWithCodeAndReason() throws Exception {
    Client client =
        new Client(
            serve(
                socket -> {
                  socket.close(4001, "enough");
                  told.add(socket.closeCode().orElse(0) + " " + socket.closeReason());
                  socket.close(4002, "twice is harmless");
                  socket.close();
                  told.add(socket.receive());
                }));
    assertThat(client.next()).isEqualTo("close 4001 enough");
    assertThat(next(told)).isEqualTo("4001 enough");
    assertThat(next(told)).isEqualTo(Optional.empty());
  }

  @Test
  void aCloseFromElsewhereEndsAReceive() throws Exception {
    CountDownLatch enough = new CountDownLatch(1);
    URI uri =
        serve(
            socket -> {
              Fiber<Void> receiver = Weft.go(() -> tellingTheEnd().handle(socket));
              enough.await();
              socket.close(4000, "by another");
              receiver.join();
              told.add("joined");
            });
    try (Raw raw = Raw.open(uri)) {
      raw.send(text("one"));
      assertThat(raw.next()).hasToString("text one");
      enough.countDown();
      assertThat(raw.next()).hasToString("close 4000 by another");
      raw.send(text("dropped"), close(4000, ""));
      assertThat(raw.isAtEnd()).isTrue();
      assertThat(next(told)).isEqualTo("4000 by another");
      assertThat(next(told)).isEqualTo(false);
      assertThat(next(told)).isEqualTo("joined");
    }
  }

  @Test
  void aClientThatDoesNotAnswerACloseIsNotWaitedForLong() throws Exception {
    URI uri =
        serve(
            socket -> {
              long start = System.nanoTime();
              socket.close();
              told.add(Duration.ofNanos(System.nanoTime() - start));
            });
    try (Raw raw = Raw.open(uri)) {
      assertThat(raw.next()).hasToString("close 1000");
      assertThat(raw.isAtEnd()).isTrue();
      assertThat((Duration) next(told)).isBetween(Duration.ofMillis(900), Duration.ofSeconds(20));
    }
  }

  @Test
  void aClientThatDoesNotReadCannotKeepACloseFromEnding() throws Exception {
    URI uri =
        serve(
            socket -> {
              CountDownLatch begun = new CountDownLatch(1);
              Fiber<Void> sender =
                  Weft.go(
                      () -> {
                        try {
                          while (true) {
                            socket.send(new byte[1 << 20]);
                            begun.countDown();
                          }
                        } catch (IOException e) {
                          told.add("not sent");
                        }
                      });
              begun.await();
              Fiber<Void> floodReader = Weft.go(() -> ECHO.handle(socket));
              socket.close();
              sender.join();
              floodReader.join();
              told.add("closed");
            });
    try (Raw raw = Raw.open(uri)) {
      assertThat(next(told)).isEqualTo("not sent");
      assertThat(next(told)).isEqualTo("closed");
      assertThat(raw.socket().isConnected()).isTrue();
    }
  }

  @Test
  void aClientThatFloodsCannotKeepACloseFromEnding() throws Exception {
    URI uri =
        serve(
            socket -> {
              socket.close();
              told.add("closed");
            });
    try (Raw raw = Raw.open(uri)) {
      byte[] flood = join(frame(TEXT, bytes("x")), frame(CONTINUATION, new byte[0]));
      assertThatExceptionOfType(IOException.class)
          .isThrownBy(
              () -> {
                raw.send(flood);
                while (true) {
                  raw.send(frame(CONTINUATION, new byte[0]));
                }
              });
      assertThat(next(told)).isEqualTo("closed");
    }
  }

  @Test
  void aHandlerThatThrowsCloses1011() throws Exception {
    for (Exception thrown :
        List.of(new IllegalStateException("a bug"), new IOException("a file"), new Exception())) {
      Client client =
          new Client(
              serve(
                  socket -> {
                    throw thrown;
                  }));
      assertThat(client.next()).isEqualTo("close 1011 the handler has failed");
    }
  }

  @Test
  void aHandlerThatIsInterruptedCloses1001() throws Exception {
    Client client =
        new Client(
            serve(
                socket -> {
                  throw new InterruptedException();
                }));
    assertThat(client.next()).isEqualTo("close 1001 the server ends this");
  }

  @Test
  void bytesWhereTextIsExpectedClose1003() throws Exception {
    Client client =
        new Client(
            serve(
                socket -> {
                  try {
                    socket.receiveText();
                  } catch (ProtocolException e) {
                    told.add(String.valueOf(e.getMessage()));
                    throw e;
                  }
                }));
    assertThat(client.send(new byte[1]).next()).isEqualTo("close 1003 only text is accepted");
    assertThat(next(told)).asString().startsWith("a binary message came from WebSocket /chat of ");
  }

  @Test
  void aMessageOverTheLimitClosesAndTheClientHearsWhy() throws Exception {
    System.setProperty("weft.http.maxMessage", "1000");
    URI uri;
    try {
      uri = serve(ECHO);
    } finally {
      System.clearProperty("weft.http.maxMessage");
    }
    Client client = new Client(uri);
    assertThat(client.send("x".repeat(1000)).next()).isEqualTo("x".repeat(1000));
    var _ = client.socket.sendText("x".repeat(500_000), true);
    assertThat(client.next()).isEqualTo("close 1009 a message has more than 1000 bytes");
  }

  @Test
  void aClientThatBreaksTheProtocolHearsWhy() throws Exception {
    try (Raw raw = Raw.open(serve(ECHO))) {
      raw.send(new byte[] {(byte) (FIN | TEXT), 1, 'x'}, new byte[100_000]);
      assertThat(raw.next()).hasToString("close 1002 a frame is not masked");
      raw.socket().shutdownOutput();
      assertThat(raw.isAtEnd()).isTrue();
    }
  }

  // ---- ends that are none ----

  private WebSocketHandler tellingHowReceiveEnds() {
    return socket -> {
      told.add("began");
      try {
        told.add(socket.receive());
      } catch (IOException e) {
        told.add(e);
      }
      told.add(socket.closeCode().orElse(0));
    };
  }

  @Test
  void aClientThatGoesWithoutAWord() throws Exception {
    URI uri = serve(tellingHowReceiveEnds());
    try (Raw raw = Raw.open(uri)) {
      assertThat(next(told)).isEqualTo("began");
      raw.socket().close();
      assertThat(next(told)).isEqualTo(Optional.empty());
      assertThat(next(told)).isEqualTo(1006);
    }
  }

  @Test
  void aClientThatGoesInTheMiddleOfAMessage() throws Exception {
    URI uri = serve(tellingHowReceiveEnds());
    try (Raw raw = Raw.open(uri)) {
      assertThat(next(told)).isEqualTo("began");
      raw.send(Arrays.copyOf(frame(FIN | BINARY, new byte[1000]), 500));
      raw.socket().close();
      assertThat(next(told)).isInstanceOf(EOFException.class);
      assertThat(next(told)).isEqualTo(1006);
    }
  }

  @Test
  void aConnectionThatIsReset() throws Exception {
    URI uri = serve(tellingHowReceiveEnds());
    try (Raw raw = Raw.open(uri)) {
      assertThat(next(told)).isEqualTo("began");
      raw.socket().setSoLinger(true, 0);
      raw.socket().close();
      assertThat(next(told)).isInstanceOfAny(IOException.class, Optional.class);
      assertThat(next(told)).isEqualTo(1006);
    }
  }

  @Test
  void stoppingTheServerEndsSockets() throws Exception {
    URI uri = serve(tellingHowReceiveEnds());
    try (Raw one = Raw.open(uri);
        Raw other = Raw.open(uri)) {
      assertThat(next(told)).isEqualTo("began");
      assertThat(next(told)).isEqualTo("began");
      servers.getFirst().stop(0);
      assertThat(one.isAtEnd()).isTrue();
      assertThat(other.isAtEnd()).isTrue();
      for (int i = 0; i < 4; i++) {
        assertThat(next(told)).isInstanceOfAny(IOException.class, Integer.class);
      }
    }
  }

  /** A WebSocket never ends by itself: to wait for it as for a request would be in vain. */
  @Test
  void stoppingTheServerInAWhileTellsSockets() throws Exception {
    URI uri = serve(tellingTheEnd());
    Client polite = new Client(uri);
    polite.send("hello");
    assertThat(polite.next()).isEqualTo("hello");
    try (Raw silent = Raw.open(uri)) {
      long start = System.nanoTime();
      servers.getFirst().stop(20);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
      assertThat(polite.next()).isEqualTo("close 1001 the server stops");
      assertThat(silent.next()).hasToString("close 1001 the server stops");
      assertThat(silent.isAtEnd()).isTrue();
    }
    for (int i = 0; i < 2; i++) {
      assertThat(next(told)).isEqualTo("1001 the server stops");
      assertThat(next(told)).isEqualTo(false);
    }
  }

  /** One that a request becomes while the server waits for that. */
  @Test
  void aSocketThatBeginsWhileTheServerStops() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    HttpHandler upgrade = WebSocket.handler(tellingTheEnd());
    URI uri =
        serveHttp(
            exchange -> {
              entered.countDown();
              try {
                go.await();
              } catch (InterruptedException e) {
                throw new IOException(e);
              }
              upgrade.handle(exchange);
            });
    try (Raw idle = Raw.connect(uri);
        Raw raw = Raw.connect(uri)) {
      raw.send(bytes(request()));
      entered.await();
      Thread stopping = Thread.ofPlatform().start(() -> servers.getFirst().stop(20));
      assertThat(idle.isAtEnd()).isTrue(); // so it is stopping
      long start = System.nanoTime();
      go.countDown();
      assertThat(raw.head()).startsWith("HTTP/1.1 101 ");
      assertThat(raw.next()).hasToString("close 1001 the server stops");
      stopping.join();
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }
    assertThat(next(told)).isEqualTo("1001 the server stops");
  }

  // ---- upgrades ----

  @Test
  void theFirstSubprotocolOfTheServerThatTheClientKnows() throws Exception {
    URI uri =
        serveHttp(
            WebSocket.handler(
                List.of("v3", "v2", "v1"),
                socket -> socket.send(socket.subprotocol().orElse("none"))));
    Client both = new Client(uri, "v0", "v1", "v2");
    assertThat(both.socket.getSubprotocol()).isEqualTo("v2");
    assertThat(both.next()).isEqualTo("v2");
    Client none = new Client(uri, "v0");
    assertThat(none.socket.getSubprotocol()).isEmpty();
    assertThat(none.next()).isEqualTo("none");
  }

  @Test
  void requestsThatAreNoneAreRefusedWithAReason() throws Exception {
    URI uri = serve(ECHO);
    assertRefused(
        uri,
        "400 Bad Request",
        "a WebSocket is asked for with GET, not POST",
        request("GET", "POST", "Host", "Content-Length: 0\r\nHost"));
    assertRefused(
        uri,
        "400 Bad Request",
        "a WebSocket is asked for with HTTP/1.1, not HTTP/1.0",
        request("HTTP/1.1", "HTTP/1.0"));
    for (String without : List.of("", "Upgrade: h2c\r\n")) {
      assertRefused(
          uri,
          "400 Bad Request",
          "this is a WebSocket: the request must have the header Upgrade: websocket",
          request("Upgrade: websocket\r\n", without));
    }
    for (String without : List.of("", "Connection: keep-alive\r\n")) {
      assertRefused(
          uri,
          "400 Bad Request",
          "the request must have the header Connection: Upgrade",
          request("Connection: keep-alive, Upgrade\r\n", without));
    }
    String line = "Sec-WebSocket-Key: " + KEY + "\r\n";
    for (String bad :
        List.of(
            "",
            line + line,
            "Sec-WebSocket-Key: short\r\n",
            "Sec-WebSocket-Key: " + "A".repeat(24) + "\r\n",
            "Sec-WebSocket-Key: " + "?".repeat(22) + "==\r\n")) {
      assertRefused(
          uri,
          "400 Bad Request",
          "Sec-WebSocket-Key must be there once, and 16 bytes in base64",
          request(line, bad));
    }
    assertRefused(
        uri,
        "400 Bad Request",
        "a request for a WebSocket must not have a body",
        request("Host", "Content-Length: 1\r\nHost") + "x");
    for (String version : List.of("", "Sec-WebSocket-Version: 8\r\n")) {
      String head =
          assertRefused(
              uri,
              "426 Upgrade Required",
              "Sec-WebSocket-Version must be 13",
              request("Sec-WebSocket-Version: 13\r\n", version));
      assertThat(head).containsIgnoringCase("\r\nSec-WebSocket-Version: 13\r\n");
    }
  }

  /** Returns the head of the response. */
  private static String assertRefused(URI uri, String status, String why, String request)
      throws IOException {
    try (Raw raw = Raw.connect(uri)) {
      raw.send(bytes(request));
      String head = raw.head();
      assertThat(head).startsWith("HTTP/1.1 " + status + "\r\n");
      byte[] body = raw.socket().getInputStream().readNBytes(why.length() + 1);
      assertThat(new String(body, StandardCharsets.UTF_8)).isEqualTo(why + "\n");
      return head;
    }
  }

  @Test
  void aConnectionServesOnAfterARefusal() throws Exception {
    try (Raw raw = Raw.connect(serve(ECHO))) {
      raw.send(bytes(request("Connection: keep-alive, Upgrade\r\n", "")));
      assertThat(raw.head()).startsWith("HTTP/1.1 400 ");
      String why = "the request must have the header Connection: Upgrade\n";
      assertThat(raw.socket().getInputStream().readNBytes(why.length())).isEqualTo(bytes(why));
      raw.send(bytes(request()), frame(FIN | PING, bytes("now")));
      assertThat(raw.head()).startsWith("HTTP/1.1 101 ");
      assertThat(raw.next()).hasToString("pong now");
    }
  }
}
