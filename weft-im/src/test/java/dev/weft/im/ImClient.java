package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A client on platform threads, over TCP or WebSocket. It tells answers from events, and keeps both
 * until they are asked for.
 */
final class ImClient implements AutoCloseable {
  private static final long LIMIT_SECONDS = 30;
  static final String PASSWORD = "correct-horse";

  private interface Sender {
    void send(String line) throws IOException;
  }

  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private Socket socket;
  private Sender sender;
  private Closeable closer;
  private int ofHistory;

  private ImClient() {}

  static ImClient connect(ImServer server) throws IOException {
    return connect(server.lineAddress());
  }

  static ImClient connect(InetSocketAddress address) throws IOException {
    ImClient client = new ImClient();
    client.socket = new Socket(address.getAddress(), address.getPort());
    OutputStream out = client.socket.getOutputStream();
    client.sender = line -> out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    client.closer = client.socket;
    Thread.ofPlatform().daemon().name("client").start(client::readAll);
    return client;
  }

  static ImClient register(ImServer server, String name) throws Exception {
    ImClient client = connect(server);
    assertThat(client.ask("REGISTER " + name + " " + PASSWORD)).isEqualTo("OK REGISTER " + name);
    return client;
  }

  static ImClient login(ImServer server, String name) throws Exception {
    return login(server.lineAddress(), name);
  }

  static ImClient login(InetSocketAddress address, String name) throws Exception {
    ImClient client = connect(address);
    assertThat(client.ask("LOGIN " + name + " " + PASSWORD)).isEqualTo("OK LOGIN " + name);
    return client;
  }

  static ImClient web(ImServer server) {
    return web(server, null);
  }

  /** Connects by WebSocket, as a proxy does for a client at an address. */
  static ImClient web(ImServer server, String forwardedFor) {
    ImClient client = new ImClient();
    HttpClient http = HttpClient.newHttpClient();
    InetSocketAddress at = server.webAddress();
    String host = at.getAddress().getHostAddress();
    URI url =
        URI.create(
            "ws://%s:%d/chat"
                .formatted(host.contains(":") ? "[" + host + "]" : host, at.getPort()));
    WebSocket.Builder builder = http.newWebSocketBuilder();
    if (forwardedFor != null) {
      builder.header("X-Forwarded-For", forwardedFor);
    }
    WebSocket web = builder.buildAsync(url, client.new WebListener()).join();
    client.sender = line -> web.sendText(line, true).join();
    client.closer =
        () -> {
          web.abort();
          http.shutdownNow();
        };
    return client;
  }

  private final class WebListener implements WebSocket.Listener {
    private final StringBuilder line = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket web, CharSequence data, boolean last) {
      line.append(data);
      if (last) {
        sort(line.toString());
        line.setLength(0);
      }
      web.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket web, int code, String reason) {
      ended.countDown();
      return null;
    }

    @Override
    public void onError(WebSocket web, Throwable error) {
      ended.countDown();
    }
  }

  private void readAll() {
    try (InputStream in = new BufferedInputStream(socket.getInputStream())) {
      for (String line = readLine(in); line != null; line = readLine(in)) {
        sort(line);
      }
    } catch (IOException e) {
      // closed here, or reset there
    } finally {
      ended.countDown();
    }
  }

  /** Returns a line, or null at the end; what has no LF behind it is no line. */
  static String readLine(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        return null;
      }
      line.write(next);
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  private void sort(String line) {
    if (ofHistory > 0) {
      ofHistory--;
      answers.add(line);
    } else if (line.startsWith("OK ") || line.startsWith("ERR ")) {
      if (line.startsWith("OK HISTORY ")) {
        ofHistory = Integer.parseInt(line.substring("OK HISTORY ".length()));
      }
      answers.add(line);
    } else {
      events.add(line);
    }
  }

  void send(String line) throws IOException {
    sender.send(line);
  }

  /** Sends bytes as they are. */
  void sendRaw(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  /** Sends a command, and returns its answer. */
  String ask(String command) throws Exception {
    send(command);
    return answer();
  }

  String answer() throws InterruptedException {
    return next(answers, "answer");
  }

  /** Sends a HISTORY command, and returns its messages. */
  List<String> history(String command) throws Exception {
    String answer = ask(command);
    assertThat(answer).startsWith("OK HISTORY ");
    List<String> lines = new ArrayList<>();
    for (int n = Integer.parseInt(answer.substring("OK HISTORY ".length())); n > 0; n--) {
      lines.add(answer());
    }
    return lines;
  }

  /** Sends SAY or TELL, and returns the id of the message. */
  long post(String command) throws Exception {
    String answer = ask(command);
    assertThat(answer).matches("OK (SAY|TELL) [0-9]+");
    return Long.parseLong(answer.substring(answer.lastIndexOf(' ') + 1));
  }

  /** Waits for the next line that is no answer. */
  String event() throws InterruptedException {
    return next(events, "event");
  }

  /** Waits for the next MSG line; what else there is before it is left out. */
  String message() throws InterruptedException {
    String line = event();
    while (!line.startsWith("MSG ")) {
      line = event();
    }
    return line;
  }

  /** Waits for the text of the next message. */
  String text() throws InterruptedException {
    return textOf(message());
  }

  /** Waits for a certain event; what is before it is left out. */
  void await(String expected) throws InterruptedException {
    while (!event().equals(expected)) {
      // not yet
    }
  }

  /** Waits for a certain event; returns what came before it. */
  List<String> eventsUntil(String expected) throws InterruptedException {
    List<String> before = new ArrayList<>();
    for (String line = event(); !line.equals(expected); line = event()) {
      before.add(line);
    }
    return before;
  }

  private static String next(BlockingQueue<String> lines, String what) throws InterruptedException {
    String line = lines.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
    assertThat(line).as("the next " + what).isNotNull();
    return line;
  }

  /** Returns the events that came before the answer to a PING that is sent now. */
  List<String> eventsUntilNow() throws Exception {
    assertThat(ask("PING now")).isEqualTo("OK PING now");
    List<String> lines = new ArrayList<>();
    events.drainTo(lines);
    return lines;
  }

  /** Says QUIT, waits for the end, and returns the events that came before it. */
  List<String> quit() throws Exception {
    assertThat(ask("QUIT")).isEqualTo("OK QUIT");
    awaitEnd();
    List<String> lines = new ArrayList<>();
    events.drainTo(lines);
    return lines;
  }

  void awaitEnd() throws InterruptedException {
    assertThat(ended.await(LIMIT_SECONDS, TimeUnit.SECONDS)).as("the end of it").isTrue();
  }

  /** Goes away without a word. */
  void crash() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    closer.close();
  }

  static long idOf(String message) {
    return Long.parseLong(message.split(" ", 3)[1]);
  }

  static String textOf(String message) {
    return message.split(" ", 6)[5];
  }
}
