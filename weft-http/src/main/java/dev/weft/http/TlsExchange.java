package dev.weft.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpPrincipal;
import com.sun.net.httpserver.HttpsExchange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Objects;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** An exchange as handlers see it that came over an encrypted connection. */
final class TlsExchange extends HttpsExchange {
  private final Exchange exchange;

  TlsExchange(Exchange exchange) {
    this.exchange = exchange;
  }

  Exchange exchange() {
    return exchange;
  }

  @Override
  public SSLSession getSSLSession() {
    return Objects.requireNonNull(exchange.session());
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
