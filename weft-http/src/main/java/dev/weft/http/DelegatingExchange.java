package dev.weft.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpPrincipal;
import com.sun.net.httpserver.HttpsExchange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * An exchange that passes every call on to another. Its base is the class for encrypted
 * connections, because the JDK has no common one below which both kinds of exchanges could be made.
 */
abstract class DelegatingExchange extends HttpsExchange {
  private final HttpExchange exchange;

  DelegatingExchange(HttpExchange exchange) {
    this.exchange = exchange;
  }

  @Override
  public Headers getRequestHeaders() {
    return exchange.getRequestHeaders();
  }

  @Override
  public Headers getResponseHeaders() {
    return exchange.getResponseHeaders();
  }

  @Override
  public URI getRequestURI() {
    return exchange.getRequestURI();
  }

  @Override
  public String getRequestMethod() {
    return exchange.getRequestMethod();
  }

  @Override
  public HttpContext getHttpContext() {
    return exchange.getHttpContext();
  }

  @Override
  public void close() {
    exchange.close();
  }

  @Override
  public InputStream getRequestBody() {
    return exchange.getRequestBody();
  }

  @Override
  public OutputStream getResponseBody() {
    return exchange.getResponseBody();
  }

  @Override
  public void sendResponseHeaders(int code, long length) throws IOException {
    exchange.sendResponseHeaders(code, length);
  }

  @Override
  public InetSocketAddress getRemoteAddress() {
    return exchange.getRemoteAddress();
  }

  @Override
  public int getResponseCode() {
    return exchange.getResponseCode();
  }

  @Override
  public InetSocketAddress getLocalAddress() {
    return exchange.getLocalAddress();
  }

  @Override
  public String getProtocol() {
    return exchange.getProtocol();
  }

  @Override
  public @Nullable Object getAttribute(String name) {
    return exchange.getAttribute(name);
  }

  @Override
  public void setAttribute(String name, @Nullable Object value) {
    exchange.setAttribute(name, value);
  }

  @Override
  public void setStreams(@Nullable InputStream input, @Nullable OutputStream output) {
    exchange.setStreams(input, output);
  }

  @Override
  public @Nullable HttpPrincipal getPrincipal() {
    return exchange.getPrincipal();
  }

  @Override
  public String toString() {
    return exchange.toString();
  }
}
