package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rules of RFC 9110 and 9112 for a server, one raw request each: {@code rfc-cases.txt}. */
@Feature("A2")
class RfcTest {
  private static final int LEAST_CASES = 200;

  /** Some requests are longer than any limit. */
  private static final int MOST_PACKETS = 10_000;

  private static final Pattern LINE = Pattern.compile("(\\S+)\\s+(\\S+)\\s+(\\S+)\\s+(.*)");
  private static final Pattern ESCAPE =
      Pattern.compile("\\\\([nlcst\\\\]|x[0-9A-F]{2})|\\{(11|10|(.)\\*(\\d+))\\}");

  /** Headers that no response has both of: RFC 9112, section 6.2. */
  private static final List<String> TWO_LENGTHS = List.of("content-length", "transfer-encoding");

  private static HttpServer server;

  // without a context for the root, so that some paths have none
  private static HttpServer withoutRoot;

  // ---- the cases ----

  /** A line of the file. */
  record Case(String section, String level, String answers, String request) {
    static Case parse(String line) {
      Matcher matcher = LINE.matcher(line);
      if (!matcher.matches() || !matcher.group(2).matches("MUST|SHOULD|MAY")) {
        throw new IllegalArgumentException("no case: " + line);
      }
      return new Case(matcher.group(1), matcher.group(2), matcher.group(3), matcher.group(4));
    }

    @Override
    public String toString() {
      return section + " " + level + " " + answers + " " + request;
    }
  }

  static List<Case> cases() throws IOException {
    try (InputStream file = RfcTest.class.getResourceAsStream("rfc-cases.txt")) {
      return new String(file.readAllBytes(), UTF_8)
          .lines()
          .filter(line -> !line.isEmpty() && !line.startsWith("#"))
          .map(Case::parse)
          .toList();
    }
  }

  private static String unescaped(String text) {
    return ESCAPE
        .matcher(text)
        .replaceAll(
            found -> {
              String what = found.group(1) == null ? found.group(2) : found.group(1);
              return Matcher.quoteReplacement(
                  switch (what) {
                    case "n" -> "\r\n";
                    case "l" -> "\n";
                    case "c" -> "\r";
                    case "s" -> " ";
                    case "t" -> "\t";
                    case "\\" -> "\\";
                    case "11" -> " HTTP/1.1\r\nHost: a\r\n";
                    case "10" -> " HTTP/1.0\r\n";
                    default ->
                        found.group(3) == null
                            ? Character.toString(Integer.parseInt(what, 1, 3, 16))
                            : found.group(3).repeat(Integer.parseInt(found.group(4)));
                  });
            });
  }

  @Test
  void thereAreEnoughAndNoneTwice() throws Exception {
    assertThat(cases()).hasSizeGreaterThan(LEAST_CASES);
    assertThat(cases().stream().map(one -> one.answers() + one.request())).doesNotHaveDuplicates();
  }

  // ---- a conversation ----

  @ParameterizedTest
  @MethodSource("cases")
  void theServerDoesWhatTheRfcSays(Case one) throws Exception {
    converse(one, RawClient::sendExactly);
  }

  static List<Case> shortCases() throws IOException {
    return cases().stream()
        .filter(one -> unescaped(one.request()).length() < MOST_PACKETS)
        .toList();
  }

  @ParameterizedTest
  @MethodSource("shortCases")
  void theServerDoesTheSameIfEachByteComesAlone(Case one) throws Exception {
    converse(one, RawClient::sendByteByByte);
  }

  private interface Sending {
    RawClient send(RawClient client, String request) throws IOException;
  }

  private static void converse(Case one, Sending sending) throws Exception {
    String[] parts = one.answers().split(";", -1);
    boolean kept = parts[0].endsWith("+");
    HttpServer asked = one.request().contains(" /none") ? withoutRoot : server;
    try (RawClient client = new RawClient(asked.getAddress())) {
      sending.send(client, unescaped(one.request()));
      RawClient.Response last = null;
      for (String status : parts[0].substring(0, parts[0].length() - 1).split(",", -1)) {
        last = client.receive(status.endsWith("h"));
        assertThat(last.status()).isEqualTo(Integer.parseInt(status.replace("h", "")));
        assertThat(last.headers().containsKey("date")).isEqualTo(last.status() >= 200);
        assertThat(last.headers().keySet().containsAll(TWO_LENGTHS)).as("two lengths").isFalse();
      }
      for (String check : List.of(parts).subList(1, parts.length)) {
        check(last, check);
      }
      if (kept) {
        client.sendExactly("GET /after HTTP/1.1\r\nHost: a\r\n\r\n");
        assertThat(client.receive().body()).as("the next answer").isEqualTo("after");
      } else {
        assertThat(client.hasEnded()).isTrue();
      }
    }
  }

  private static void check(RawClient.Response response, String check) {
    String what = check.substring(check.indexOf('=') + 1);
    switch (check.substring(0, check.indexOf('='))) {
      case "body" -> assertThat(response.body()).isEqualTo(unescaped(what));
      case "no" -> assertThat(response.headers()).doesNotContainKey(what);
      case "has" -> {
        String[] pair = what.split(":", 2);
        assertThat(response.headers()).containsKey(pair[0]);
        if (pair.length == 2) {
          assertThat(response.headers()).containsEntry(pair[0], pair[1]);
        }
      }
      default -> throw new IllegalArgumentException("no check: " + check);
    }
  }

  // ---- the server ----

  @BeforeAll
  static void start() throws IOException {
    server = serve();
    server.createContext("/", exchange -> answer(exchange, "ok"));
    withoutRoot = serve();
  }

  private static HttpServer serve() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/method", exchange -> answer(exchange, exchange.getRequestMethod()));
    server.createContext(
        "/target", exchange -> answer(exchange, exchange.getRequestURI().toString()));
    server.createContext("/after", exchange -> answer(exchange, "after"));
    server.createContext("/unread", exchange -> answer(exchange, "unread"));
    server.createContext(
        "/echo",
        exchange ->
            answer(exchange, new String(exchange.getRequestBody().readAllBytes(), ISO_8859_1)));
    server.createContext(
        "/header", exchange -> answer(exchange, exchange.getRequestHeaders().get("X").toString()));
    server.createContext(
        "/host", exchange -> answer(exchange, exchange.getRequestHeaders().get("Host").toString()));
    server.createContext(
        "/late",
        exchange -> {
          exchange.sendResponseHeaders(403, 2);
          try {
            exchange.getRequestBody().readAllBytes();
          } catch (IOException e) {
            exchange.getResponseBody().write("no".getBytes(ISO_8859_1));
          }
          exchange.close();
        });
    server.createContext(
        "/chunked",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          exchange.getResponseBody().write("hello".getBytes(ISO_8859_1));
          exchange.close();
        });
    server.createContext(
        "/status/",
        exchange ->
            exchange.sendResponseHeaders(
                Integer.parseInt(exchange.getRequestURI().getPath().substring(8)), -1));
    server.createContext(
        "/both",
        exchange -> {
          exchange.getResponseHeaders().set("Transfer-Encoding", "chunked");
          answer(exchange, "ok");
        });
    server.createContext(
        "/fails",
        exchange -> {
          throw new IOException("for a test");
        });
    server.start();
    return server;
  }

  private static void answer(HttpExchange exchange, String text) throws IOException {
    byte[] body = text.getBytes(ISO_8859_1);
    boolean isHead = exchange.getRequestMethod().equals("HEAD");
    if (isHead) {
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
    }
    exchange.sendResponseHeaders(200, isHead || body.length == 0 ? -1 : body.length);
    if (!isHead) {
      exchange.getResponseBody().write(body);
    }
    exchange.close();
  }

  @AfterAll
  static void stop() {
    server.stop(0);
    withoutRoot.stop(0);
  }
}
