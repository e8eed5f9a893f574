package dev.weft.http;

import com.sun.net.httpserver.Authenticator;
import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A path, and what handles the requests below it. */
final class Context extends HttpContext {
  private final HttpServer server;
  private final String path;
  private final Map<String, Object> attributes = new ConcurrentHashMap<>();
  private final List<Filter> filters = new CopyOnWriteArrayList<>();
  private volatile @Nullable HttpHandler handler;
  private volatile @Nullable Authenticator authenticator;

  Context(HttpServer server, String path, @Nullable HttpHandler handler) {
    if (!path.startsWith("/")) {
      throw new IllegalArgumentException("a path must begin with a slash: " + path);
    }
    this.server = server;
    this.path = path;
    this.handler = handler;
  }

  /** Has an exchange handled: by the filters, the authenticator, the handler. */
  void handle(Exchange exchange, HttpExchange shown) throws IOException {
    HttpHandler last = Objects.requireNonNull(handler);
    if (authenticator != null) {
      HttpHandler handled = last;
      last = of -> authenticate(exchange, of, handled);
    }
    if (filters.isEmpty()) {
      last.handle(shown);
    } else {
      new Filter.Chain(filters, last).doFilter(shown);
    }
  }

  private void authenticate(Exchange exchange, HttpExchange shown, HttpHandler handled)
      throws IOException {
    Authenticator asked = authenticator;
    Authenticator.Result result = asked == null ? null : asked.authenticate(shown);
    switch (result) {
      case null -> handled.handle(shown);
      case Authenticator.Success success -> {
        exchange.principal(success.getPrincipal());
        handled.handle(shown);
      }
      case Authenticator.Retry retry -> refuse(shown, retry.getResponseCode());
      case Authenticator.Failure failure -> refuse(shown, failure.getResponseCode());
      default -> throw new IllegalStateException("the authenticator has answered " + result);
    }
  }

  private static void refuse(HttpExchange shown, int status) throws IOException {
    shown.sendResponseHeaders(status, -1);
  }

  @Override
  public @Nullable HttpHandler getHandler() {
    return handler;
  }

  @Override
  public void setHandler(HttpHandler newHandler) {
    Objects.requireNonNull(newHandler, "handler");
    if (handler != null) {
      throw new IllegalArgumentException("the context " + path + " has a handler already");
    }
    handler = newHandler;
  }

  @Override
  public String getPath() {
    return path;
  }

  @Override
  public HttpServer getServer() {
    return server;
  }

  @Override
  public Map<String, Object> getAttributes() {
    return attributes;
  }

  @Override
  public List<Filter> getFilters() {
    return filters;
  }

  @Override
  public @Nullable Authenticator setAuthenticator(@Nullable Authenticator newAuthenticator) {
    Authenticator before = authenticator;
    authenticator = newAuthenticator;
    return before;
  }

  @Override
  public @Nullable Authenticator getAuthenticator() {
    return authenticator;
  }

  @Override
  public String toString() {
    return "context " + path;
  }
}
