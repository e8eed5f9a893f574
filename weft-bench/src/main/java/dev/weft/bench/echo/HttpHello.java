package dev.weft.bench.echo;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.weft.Scheduler;
import dev.weft.http.WeftHttpServerProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** One program for the JDK's HTTP server API, on Weft's server and on the JDK's own. */
final class HttpHello implements EchoServer {
  static final String TEXT = "hello, world";

  private static final byte[] BYTES = TEXT.getBytes(ISO_8859_1);

  /** The implementation of the API. */
  enum Provider {
    /** Weft's, on a scheduler of so many threads. */
    WEFT,
    /** The JDK's; its only thread also runs the handlers. */
    JDK,
    /** The JDK's, with a virtual thread for each request. */
    JDK_VIRTUAL_THREADS
  }

  private final Provider provider;

  HttpHello(Provider provider) {
    this.provider = provider;
  }

  @Override
  public void start(int threads, int buffer) throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    if (provider == Provider.WEFT) {
      HttpServer server = new WeftHttpServerProvider().createHttpServer(address, BACKLOG);
      Scheduler scheduler = Scheduler.builder().name("http").threads(threads).build().start();
      scheduler.go(() -> serve(server));
    } else {
      System.setProperty(
          "com.sun.net.httpserver.HttpServerProvider",
          "sun.net.httpserver.DefaultHttpServerProvider");
      System.setProperty("sun.net.httpserver.maxIdleConnections", "100000"); // as Weft's, not 200
      System.setProperty("sun.net.httpserver.nodelay", "true");
      HttpServer server = HttpServer.create(address, BACKLOG);
      if (provider == Provider.JDK_VIRTUAL_THREADS) {
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      }
      serve(server);
    }
  }

  private static void serve(HttpServer server) {
    server.createContext("/hello", HttpHello::handle);
    server.start();
    EchoServer.tellPort(server.getAddress().getPort());
  }

  private static void handle(HttpExchange exchange) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/plain");
    exchange.sendResponseHeaders(200, BYTES.length);
    exchange.getResponseBody().write(BYTES);
    exchange.close();
  }
}
