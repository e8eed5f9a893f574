package dev.weft.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpPrincipal;
import dev.weft.http.ResponseBody.Framing;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * A request and its response.
 *
 * <pre>
 *   handler called ──► sendResponseHeaders ──► body written ──► body closed ──► ended
 *         │                                                                       ▲
 *         └── close() before that, or a failure: the connection is closed ────────┘
 * </pre>
 *
 * <p>Invariants: it ends once, and the connection goes on to the next request after that. A handler
 * may return before and leave the rest to another thread; it is used by one thread at a time.
 */
final class Exchange extends HttpExchange {
  private final Connection connection;
  private final RequestHead head;
  private final Context context;
  private final Headers responseHeaders = new Headers();
  private final RequestBody requestBody;
  private final ResponseBody responseBody;
  private final CountDownLatch end = new CountDownLatch(1);

  // what handlers see, which filters may have wrapped
  private InputStream input;
  private OutputStream output;

  private int status = -1;
  private @Nullable HttpPrincipal principal;

  // whether the connection is of use for another request
  private volatile boolean keepsAlive;
  private boolean closed;

  Exchange(Connection connection, RequestHead head, Context context) {
    this.connection = connection;
    this.head = head;
    this.context = context;
    this.keepsAlive = head.keepsAlive();
    this.requestBody = new RequestBody(connection, head.bodyLength(), head.expectsContinue());
    this.responseBody = new ResponseBody(this, connection.output());
    this.input = requestBody;
    this.output = responseBody;
  }

  /**
   * Returns the one behind what a handler was given.
   *
   * @throws IllegalArgumentException if it is another server's, or wrapped by a filter
   */
  static Exchange of(HttpExchange shown) {
    if (shown instanceof Exchange exchange) {
      return exchange;
    }
    if (shown instanceof TlsExchange encrypted) {
      return encrypted.exchange();
    }
    throw new IllegalArgumentException(
        "not an exchange of Weft's server but a " + shown.getClass().getName());
  }

  // ---- the request ----

  @Override
  public String getRequestMethod() {
    return head.method();
  }

  @Override
  public URI getRequestURI() {
    return head.uri();
  }

  @Override
  public String getProtocol() {
    return head.protocol();
  }

  @Override
  public Headers getRequestHeaders() {
    return head.headers();
  }

  @Override
  public InputStream getRequestBody() {
    return input;
  }

  @Override
  public HttpContext getHttpContext() {
    return context;
  }

  @Override
  public InetSocketAddress getRemoteAddress() {
    try {
      return connection.transport().remoteAddress();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public InetSocketAddress getLocalAddress() {
    try {
      return connection.transport().localAddress();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public @Nullable HttpPrincipal getPrincipal() {
    return principal;
  }

  void principal(HttpPrincipal authenticated) {
    principal = authenticated;
  }

  @Nullable SSLSession session() {
    return connection.transport().session();
  }

  /** As in the JDK's server attributes are the context's. */
  @Override
  public @Nullable Object getAttribute(String name) {
    return context.getAttributes().get(Objects.requireNonNull(name, "name"));
  }

  @Override
  public void setAttribute(String name, @Nullable Object value) {
    Map<String, Object> attributes = context.getAttributes();
    if (value == null) {
      attributes.remove(Objects.requireNonNull(name, "name"));
    } else {
      attributes.put(Objects.requireNonNull(name, "name"), value);
    }
  }

  @Override
  public void setStreams(@Nullable InputStream newInput, @Nullable OutputStream newOutput) {
    if (newInput != null) {
      input = newInput;
    }
    if (newOutput != null) {
      output = newOutput;
    }
  }

  // ---- the response ----

  @Override
  public Headers getResponseHeaders() {
    return responseHeaders;
  }

  @Override
  public int getResponseCode() {
    return status;
  }

  @Override
  public OutputStream getResponseBody() {
    return output;
  }

  /**
   * {@inheritDoc}
   *
   * @param length of the body; 0: not known yet, -1: there is none
   */
  @Override
  public void sendResponseHeaders(int code, long length) throws IOException {
    if (status != -1) {
      throw new IOException("headers already sent");
    }
    if (code < 100 || code > 999) {
      throw new IllegalArgumentException("a status must have three digits, not " + code);
    }
    if (length < -1) {
      throw new IllegalArgumentException(
          "the length of a body must be -1 (none), 0 (chunks) or more, not " + length);
    }
    if (code < 300) {
      requestBody.tellToSend(); // or it could not be read after this
    }
    Framing framing = chooseFraming(code, length);
    if (connection.isLast() || closesConnection()) {
      keepsAlive = false;
    }
    if (!keepsAlive) {
      responseHeaders.set("Connection", "close");
    } else if (head.http10()) {
      responseHeaders.set("Connection", "keep-alive");
    }
    responseHeaders.set("Date", HttpDate.now());
    status = code;
    responseBody.begin(framing, Math.max(length, 0));
    try {
      writeHead(code);
      if (framing == Framing.NOBODY) {
        responseBody.close();
      }
    } catch (IOException e) {
      breakOff();
      throw e;
    }
  }

  /** Chooses how the end of the body is told, and sets the headers that do. */
  private Framing chooseFraming(int code, long length) {
    if (code < 200 || code == Status.NO_CONTENT) {
      return Framing.NOBODY;
    }
    if (head.isHead() || code == Status.NOT_MODIFIED) {
      return Framing.NOBODY; // the handler sets the headers that a GET would have got
    }
    if (length == -1) {
      responseHeaders.set("Content-length", "0");
      return Framing.NOBODY;
    }
    if (length > 0) {
      responseHeaders.set("Content-length", Long.toString(length));
      return Framing.LENGTH;
    }
    if (head.http10()) {
      keepsAlive = false;
      return Framing.END;
    }
    responseHeaders.set("Transfer-encoding", "chunked");
    return Framing.CHUNKS;
  }

  private boolean closesConnection() {
    List<String> options = responseHeaders.get("Connection");
    return options != null && options.stream().anyMatch("close"::equalsIgnoreCase);
  }

  private void writeHead(int code) throws IOException {
    Output out = connection.output();
    out.write("HTTP/1.1 ");
    out.write(Integer.toString(code));
    out.write(" ");
    out.write(Status.reason(code));
    out.write("\r\n");
    for (Map.Entry<String, List<String>> header : responseHeaders.entrySet()) {
      for (String value : header.getValue()) {
        out.write(header.getKey());
        out.write(": ");
        out.write(value);
        out.write("\r\n");
      }
    }
    out.write("\r\n");
  }

  /** Hands the connection over to another protocol, with the headers that are set. */
  Upgraded upgrade() throws IOException {
    keepsAlive = false;
    status = Status.SWITCHING_PROTOCOLS;
    connection.setNoLimit();
    writeHead(status);
    connection.output().flush();
    return new Upgraded(connection.input(), connection.output(), connection.transport());
  }

  // ---- the end ----

  /** Ends it: without a response the connection is closed. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      if (status == -1 || status == Status.SWITCHING_PROTOCOLS) {
        breakOff();
      } else {
        output.close();
        responseBody.close();
      }
    } catch (IOException e) {
      breakOff();
    }
  }

  /** Told by the body of the response that all of it has been sent. */
  void endResponse() {
    closed = true;
    if (!requestBody.drain()) {
      keepsAlive = false;
    }
    end.countDown();
  }

  /** Ends it and the connection, in the middle. */
  void breakOff() {
    closed = true;
    keepsAlive = false;
    connection.transport().abort();
    end.countDown();
  }

  /** Ends it though it has not been handled; tells the client if that is still possible. */
  void fail(int code) {
    if (hasEnded()) {
      return;
    }
    if (status != -1) {
      breakOff();
      return;
    }
    try {
      responseHeaders.clear();
      responseHeaders.set("Connection", "close");
      sendResponseHeaders(requestBody.isTooLong() ? Status.CONTENT_TOO_LARGE : code, -1);
    } catch (IOException e) {
      breakOff();
    }
  }

  /** Ends it if it has been handed over to another protocol, once its handler has returned. */
  void endUpgrade() {
    if (status == Status.SWITCHING_PROTOCOLS && !hasEnded()) {
      breakOff();
    }
  }

  Context context() {
    return context;
  }

  boolean hasEnded() {
    return end.getCount() == 0;
  }

  /** Waits for its end; returns whether another request can follow. */
  boolean awaitEnd() throws InterruptedException {
    end.await();
    return keepsAlive;
  }

  @Override
  public String toString() {
    return head.method() + " " + head.uri();
  }
}
