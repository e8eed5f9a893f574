package dev.weft.http;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsServer;
import com.sun.net.httpserver.spi.HttpServerProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Makes the servers of {@link HttpServer#create} and {@link HttpsServer#create} servers on fibers.
 * It is found by itself if it is on the class path or the module path; code that was written for
 * the JDK's server runs on it unchanged:
 *
 * {@snippet class="dev.weft.http.HttpServerTest" region="hello"}
 *
 * <p>Each connection has a fiber, on the scheduler of the fiber that calls {@code start}, else on
 * the {@linkplain dev.weft.Scheduler#shared shared} one; handlers run in it, and may block. If an
 * executor is set handlers run there. Limits are those of the JDK's server, by the same system
 * properties, and a few more: see {@code docs/http.md}.
 */
public final class WeftHttpServerProvider extends HttpServerProvider {
  private final UnaryOperator<HttpLimits> own;

  /** Called by the JDK. */
  public WeftHttpServerProvider() {
    this(UnaryOperator.identity());
  }

  private WeftHttpServerProvider(UnaryOperator<HttpLimits> own) {
    this.own = own;
  }

  /**
   * Returns a provider whose servers take at most so many bytes of a request line and its headers,
   * counted as {@code sun.net.httpserver.maxReqHeaderSize} does; the smaller limit holds.
   *
   * @throws IllegalArgumentException if it is less than 1
   */
  public WeftHttpServerProvider withHeadBytes(int most) {
    checkPositive("the bytes of a head", most);
    return new WeftHttpServerProvider(limits -> own.apply(limits).withHeadBytes(most));
  }

  /**
   * Returns a provider whose servers have at most so many connections, or {@code
   * jdk.httpserver.maxConnections} if that is less. When there are so many, those that have waited
   * longest for a request are closed for new ones: clients that send no request keep nobody out. A
   * connection with a request under way, or a WebSocket, stays.
   *
   * @throws IllegalArgumentException if it is less than 1
   */
  public WeftHttpServerProvider withConnections(int most) {
    checkPositive("connections", most);
    return new WeftHttpServerProvider(limits -> own.apply(limits).withConnections(most));
  }

  private static void checkPositive(String what, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(what + " must be 1 or more, not " + value);
    }
  }

  @Override
  public HttpServer createHttpServer(@Nullable InetSocketAddress address, int backlog)
      throws IOException {
    HttpServer server = new PlainServer(own.apply(HttpLimits.fromProperties()));
    if (address != null) {
      server.bind(address, backlog);
    }
    return server;
  }

  @Override
  public HttpsServer createHttpsServer(@Nullable InetSocketAddress address, int backlog)
      throws IOException {
    HttpsServer server = new TlsServer(own.apply(HttpLimits.fromProperties()));
    if (address != null) {
      server.bind(address, backlog);
    }
    return server;
  }
}
