package dev.weft.http;

import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** An HTTPS server as the JDK's API has it; {@link PlainServer} says why the two are alike. */
final class TlsServer extends HttpsServer {
  private final Server server;

  TlsServer(HttpLimits limits) {
    server = new Server(this, true, limits);
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

  @Override
  public void setHttpsConfigurator(HttpsConfigurator configurator) {
    server.configurator(configurator);
  }

  @Override
  public @Nullable HttpsConfigurator getHttpsConfigurator() {
    return server.configurator();
  }
}
