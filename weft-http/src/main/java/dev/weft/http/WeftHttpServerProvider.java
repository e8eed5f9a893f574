package dev.weft.http;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsServer;
import com.sun.net.httpserver.spi.HttpServerProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
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
  /** Called by the JDK. */
  public WeftHttpServerProvider() {}

  @Override
  public HttpServer createHttpServer(@Nullable InetSocketAddress address, int backlog)
      throws IOException {
    HttpServer server = new PlainServer();
    if (address != null) {
      server.bind(address, backlog);
    }
    return server;
  }

  @Override
  public HttpsServer createHttpsServer(@Nullable InetSocketAddress address, int backlog)
      throws IOException {
    HttpsServer server = new TlsServer();
    if (address != null) {
      server.bind(address, backlog);
    }
    return server;
  }
}
