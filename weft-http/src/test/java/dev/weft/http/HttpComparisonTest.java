package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.spi.HttpServerProvider;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same program on Weft's server and on the JDK's: clients cannot tell them apart. */
@Feature("A2")
class HttpComparisonTest {
  /** Raw requests, each with what follows it on the same connection; {@code \n} is CR LF. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /text HTTP/1.1\nHost: x\n\n",
        "GET /text HTTP/1.1\nHost: x\nConnection: close\n\n",
        "GET /text?q=a+b&c=%C3%A4 HTTP/1.1\nHost: x\n\n",
        "GET http://example.com:80/text HTTP/1.1\nHost: x\n\n",
        "HEAD /text HTTP/1.1\nHost: x\n\nGET /text HTTP/1.1\nHost: x\n\n",
        "HEAD /headers HTTP/1.1\nHost: x\n\nGET /text HTTP/1.1\nHost: x\n\n",
        "GET /chunks HTTP/1.1\nHost: x\n\n",
        "GET /nothing HTTP/1.1\nHost: x\n\nGET /text HTTP/1.1\nHost: x\n\n",
        "GET /status/204 HTTP/1.1\nHost: x\n\nGET /text HTTP/1.1\nHost: x\n\n",
        "GET /status/304 HTTP/1.1\nHost: x\n\nGET /text HTTP/1.1\nHost: x\n\n",
        "GET /status/404 HTTP/1.1\nHost: x\n\n",
        "GET /status/500 HTTP/1.1\nHost: x\n\nGET /text HTTP/1.1\nHost: x\n\n",
        "GET /status/302 HTTP/1.1\nHost: x\n\n",
        "POST /echo HTTP/1.1\nHost: x\nContent-Length: 5\n\nhello",
        "POST /echo HTTP/1.1\nHost: x\nContent-Length: 0\n\nGET /text HTTP/1.1\nHost: x\n\n",
        "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n5\nhello\n6;a=b\n world\n0\n\n",
        "POST /echo HTTP/1.1\nHost: x\ntransfer-encoding: CHUNKED\n\n0\n\nGET /text HTTP/1.1\nHost: x\n\n",
        "POST /text HTTP/1.1\nHost: x\nContent-Length: 5\n\nhelloGET /echo HTTP/1.1\nHost: x\n\n",
        "PUT /echo HTTP/1.1\nHost: x\ncontent-length:5\n\nhello",
        "DELETE /method HTTP/1.1\nHost: x\n\n",
        "PATCH /method HTTP/1.1\nHost: x\n\n",
        "GET /headers HTTP/1.1\nHost: x\nx-one: 1\nX-ONE:  two  \nx-Two:\n\n",
        "GET /text HTTP/1.0\n\n",
        "GET /chunks HTTP/1.0\n\n",
        "GET /text HTTP/1.1\nHost: x\n\nGET /chunks HTTP/1.1\nHost: x\n\nGET /nothing HTTP/1.1\nHost: x\n\n",
        "GET /closes HTTP/1.1\nHost: x\n\n",
        "GET /flushed HTTP/1.1\nHost: x\n\n",
        "GET /attributes HTTP/1.1\nHost: x\n\nGET /attributes HTTP/1.1\nHost: x\n\n",
      })
  void clientsSeeTheSame(String requests) throws Exception {
    List<Map<String, String>> weft = answers(new WeftHttpServerProvider(), requests);
    assertThat(weft).isNotEmpty();
    assertThat(weft).isEqualTo(answers(jdk(), requests));
  }

  /** Refused by both, though Weft's reasons are in plain text. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET\n\n",
        "GET /text\n\n",
        "GET /te xt HTTP/1.1 x\n\n",
        "GET /% HTTP/1.1\nHost: x\n\n",
        "GET /none-there HTTP/1.1\nHost: x\n\n",
        "POST /echo HTTP/1.1\nHost: x\nContent-Length: x\n\n",
        "POST /echo HTTP/1.1\nHost: x\nContent-Length: -5\n\n",
        "POST /echo HTTP/1.1\nHost: x\nContent-Length: 5\nContent-Length: 5\n\nhello",
        "POST /echo HTTP/1.1\nHost: x\nContent-Length: 5\nTransfer-Encoding: chunked\n\n",
        "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: gzip, chunked\n\n",
        "GET /text HTTP/1.1\nHost: x\nbad name: x\n\n",
      })
  void mistakesAreRefusedAlike(String request) throws Exception {
    List<Map<String, String>> weft = answers(new WeftHttpServerProvider(), request);
    List<Map<String, String>> jdk = answers(jdk(), request);
    assertThat(weft).extracting(answer -> answer.get("status")).isNotEmpty();
    if (!request.startsWith("GET /te xt")) { // which the JDK takes for a version
      assertThat(weft)
          .extracting(answer -> answer.get("status"))
          .isEqualTo(jdk.stream().map(answer -> answer.get("status")).toList());
    }
  }

  private static HttpServerProvider jdk() throws ReflectiveOperationException {
    return Class.forName("sun.net.httpserver.DefaultHttpServerProvider")
        .asSubclass(HttpServerProvider.class)
        .getDeclaredConstructor()
        .newInstance();
  }

  /** Returns what comes back until the server ends the connection, or has nothing more to say. */
  private static List<Map<String, String>> answers(HttpServerProvider provider, String requests)
      throws IOException {
    HttpServer server =
        provider.createHttpServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    program(server);
    server.start();
    try (RawClient client = new RawClient(server.getAddress())) {
      client.send(requests).end();
      List<Map<String, String>> all = new ArrayList<>();
      for (String next : requests.split("(?=(GET|HEAD) )", -1)) {
        RawClient.Response response;
        try {
          response = client.receive(next.startsWith("HEAD"));
        } catch (IOException e) {
          break; // it was the last
        }
        Map<String, String> answer = new TreeMap<>(response.headers());
        answer.remove("date");
        if (answer.getOrDefault("connection", "").equals("close")) {
          answer.remove("connection"); // the JDK's server does not always say so
        }
        answer.put("status", String.valueOf(response.status()));
        if (response.status() < 400) {
          answer.put("body", response.body());
        }
        all.add(answer);
      }
      return all;
    } finally {
      server.stop(0);
    }
  }

  /** Written for the JDK's server. */
  private static void program(HttpServer server) {
    server.createContext("/text", exchange -> answer(exchange, 200, "some text"));
    server.createContext(
        "/chunks",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (OutputStream out = exchange.getResponseBody()) {
            for (int i = 0; i < 5000; i++) {
              out.write(("line " + i + "\n").getBytes(ISO_8859_1));
            }
          }
        });
    server.createContext("/nothing", exchange -> exchange.sendResponseHeaders(200, -1));
    server.createContext(
        "/status/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          int status = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    server.createContext(
        "/echo",
        exchange ->
            answer(
                exchange, 200, new String(exchange.getRequestBody().readAllBytes(), ISO_8859_1)));
    server.createContext(
        "/method",
        exchange ->
            answer(exchange, 200, exchange.getRequestMethod() + " " + exchange.getProtocol()));
    server.createContext(
        "/headers",
        exchange -> {
          exchange.getResponseHeaders().add("X-Several", "1");
          exchange.getResponseHeaders().add("x-several", "2");
          TreeMap<String, List<String>> sorted = new TreeMap<>(exchange.getRequestHeaders());
          String all = sorted.toString() + exchange.getRequestHeaders().getFirst("X-oNE");
          boolean fixed = false;
          try {
            exchange.getRequestHeaders().set("a", "b");
          } catch (UnsupportedOperationException e) {
            fixed = true;
          }
          if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", "17");
            exchange.sendResponseHeaders(200, -1);
          } else {
            answer(exchange, 200, all + fixed);
          }
        });
    server.createContext(
        "/closes",
        exchange -> {
          exchange.getResponseHeaders().set("Connection", "close");
          answer(exchange, 200, "last");
        });
    server.createContext(
        "/flushed",
        exchange -> {
          exchange.sendResponseHeaders(200, 4);
          OutputStream out = exchange.getResponseBody();
          out.write("ab".getBytes(ISO_8859_1));
          out.flush();
          out.write('c');
          out.write('d');
          out.flush();
          exchange.close();
        });
    server.createContext(
        "/attributes",
        exchange -> {
          Object before = exchange.getAttribute("seen");
          exchange.setAttribute("seen", "yes");
          answer(exchange, 201, String.valueOf(before));
        });
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] body = text.getBytes(ISO_8859_1);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=iso-8859-1");
    exchange
        .getResponseHeaders()
        .set("X-Path", exchange.getRequestURI().getPath().toLowerCase(Locale.ROOT));
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.getResponseHeaders().set("Content-Length", String.valueOf(body.length));
      exchange.sendResponseHeaders(status, -1);
      return;
    }
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }
}
