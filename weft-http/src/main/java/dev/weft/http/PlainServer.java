package dev.weft.http;

import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP server as the JDK's API has it. {@link TlsServer} repeats its methods: the API has an
 * abstract class for each kind of server, and a plain server must not be an {@code HttpsServer}. So
 * each method is a bare call of {@link Server}, which has the code, as in the JDK's own {@code
 * HttpServerImpl} and {@code HttpsServerImpl}.
 */
final class PlainServer extends HttpServer {
  private final Server server;

  PlainServer(HttpLimits limits) {
    server = new Server(this, false, limits);
  }

  @Override
  public void bind(InetSocketAddress address, int backlog) throws IOException {
    server.bind(address, backlog);
  }

  @Override
  public void start() {
    server.start();
  }

  @Override
  public void setExecutor(@Nullable Executor executor) {
    server.executor(executor);
  }

  @Override
  public @Nullable Executor getExecutor() {
    return server.executor();
  }

  @Override
  public void stop(int seconds) {
    server.stop(seconds);
  }

  @Override
  public HttpContext createContext(String path, HttpHandler handler) {
    return server.createContext(path, handler);
  }

  @Override
  public HttpContext createContext(String path) {
    return server.createContext(path);
  }

  @Override
  public void removeContext(String path) {
    server.removeContext(path);
  }

  @Override
  public void removeContext(HttpContext context) {
    server.removeContext(context);
  }

  @Override
  public @Nullable InetSocketAddress getAddress() {
    return server.address();
  }
}
