package dev.weft.proof;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.weft.testkit.Certificate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * An HTTP server on platform threads, without fibers: the JDK's own.
 *
 * <pre>
 * /page/N     answers "page N"
 * /gate/N     answers "page N" when the gate is open
 * /never      reads the request and does not answer
 * /cut        promises more bytes than it sends, then closes the connection
 * /large      answers a million bytes
 * POST /echo  answers the request body
 * </pre>
 */
final class Site implements AutoCloseable {
  static final int LARGE = 1_000_000;

  private final Gate gate = new Gate();
  private final Gate never = new Gate();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpServer server;
  private final String scheme;

  /** Starts a server, with TLS if there is a certificate. */
  Site(Optional<Certificate> certificate) throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    if (certificate.isPresent()) {
      HttpsServer secure = HttpsServer.create(address, 1000);
      secure.setHttpsConfigurator(new HttpsConfigurator(certificate.get().context()));
      server = secure;
      scheme = "https";
    } else {
      server = HttpServer.create(address, 1000);
      scheme = "http";
    }
    server.setExecutor(threads);
    server.createContext("/page/", exchange -> answer(exchange, page(exchange)));
    server.createContext(
        "/gate/",
        exchange -> {
          pass(gate);
          answer(exchange, page(exchange));
        });
    server.createContext(
        "/never",
        exchange -> {
          pass(never);
          exchange.close();
        });
    server.createContext(
        "/cut",
        exchange -> {
          exchange.sendResponseHeaders(200, 100);
          exchange.getResponseBody().write("too little".getBytes(StandardCharsets.UTF_8));
          exchange.getResponseBody().flush();
          exchange.close();
        });
    server.createContext("/large", exchange -> answer(exchange, "x".repeat(LARGE)));
    server.createContext(
        "/echo",
        exchange ->
            answer(
                exchange,
                new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
    server.start();
  }

  private static void pass(Gate gate) {
    try {
      gate.pass();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the server is closed
    }
  }

  private static String page(HttpExchange exchange) {
    String path = exchange.getRequestURI().getPath();
    return "page " + path.substring(path.lastIndexOf('/') + 1);
  }

  private static void answer(HttpExchange exchange, String text) throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  URI uri(String path) {
    return URI.create("%s://127.0.0.1:%d%s".formatted(scheme, server.getAddress().getPort(), path));
  }

  /** Returns the gate of {@code /gate/}. */
  Gate gate() {
    return gate;
  }

  /** Returns the number of requests for {@code /never}. */
  int unanswered() {
    return never.arrived();
  }

  @Override
  public void close() {
    gate.open();
    never.open();
    server.stop(0);
    threads.shutdownNow();
  }
}
