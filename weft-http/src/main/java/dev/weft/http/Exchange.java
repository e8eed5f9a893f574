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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
   * Returns the exchange behind the object that a handler was given.
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
    if (code < Status.LEAST_FINAL || code > 999) {
      throw new IllegalArgumentException(
          "the status of a response must be from 200 to 999, not " + code);
    }
    if (length < -1) {
      throw new IllegalArgumentException(
          "the length of a body must be -1 (none), 0 (chunks) or more, not " + length);
    }
    checkHeaders();
    if (code < 300) {
      requestBody.tellToSend(); // or it could not be read after this
    } else {
      requestBody.refuse();
    }
    Framing framing = chooseFraming(code, length);
    List<String> options = responseHeaders.get("Connection");
    if (connection.isLast() || hasOption(options, "close") || requestBody.waitsForWord()) {
      keepsAlive = false;
    }
    if (!keepsAlive) {
      responseHeaders.set("Connection", withOption(options, "close", "keep-alive"));
    } else if (head.http10()) {
      responseHeaders.set("Connection", withOption(options, "keep-alive", "close"));
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

  /**
   * Checks the headers of the response. {@link Headers} does so when one is set, but handlers may
   * change its lists afterwards; a line break in one would let a client write headers, or a whole
   * response, of its own: RFC 9110, section 5.5.
   *
   * @throws IllegalArgumentException if one has a character that is not allowed
   */
  private void checkHeaders() {
    for (Map.Entry<String, List<String>> header : responseHeaders.entrySet()) {
      String name = header.getKey();
      if (!isAll(name, RequestHead::isToken) || name.isEmpty()) {
        throw new IllegalArgumentException(
            "the name of a header must be letters, digits and !#$%&'*+-.^_`|~");
      }
      for (String value : header.getValue()) {
        if (!isAll(value, c -> c < 256 && RequestHead.isValue(c))) {
          throw new IllegalArgumentException(
              "the header " + name + " has a line break or another character that is not allowed");
        }
      }
    }
  }

  private static boolean isAll(String text, IntPredicate allowed) {
    for (int i = 0; i < text.length(); i++) {
      if (!allowed.test(text.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Chooses how the end of the body is told, and sets the headers that do. A response never has two
   * that could contradict each other: RFC 9112, sections 6.1 and 6.2.
   */
  private Framing chooseFraming(int code, long length) {
    if (code == Status.NO_CONTENT) {
      responseHeaders.remove("Content-length");
      responseHeaders.remove("Transfer-encoding");
      return Framing.NOBODY;
    }
    if (head.isHead() || code == Status.NOT_MODIFIED) {
      // the handler sets the headers that a GET would have got
      if (head.http10() || responseHeaders.containsKey("Content-length")) {
        responseHeaders.remove("Transfer-encoding");
      }
      return Framing.NOBODY;
    }
    responseHeaders.remove("Transfer-encoding");
    if (length == -1 || code == Status.RESET_CONTENT) {
      responseHeaders.set("Content-length", "0");
      return Framing.NOBODY;
    }
    if (length > 0) {
      responseHeaders.set("Content-length", Long.toString(length));
      return Framing.LENGTH;
    }
    responseHeaders.remove("Content-length");
    if (head.http10()) {
      keepsAlive = false;
      return Framing.END;
    }
    responseHeaders.set("Transfer-encoding", "chunked");
    return Framing.CHUNKS;
  }

  private static boolean hasOption(@Nullable List<String> lines, String option) {
    return lines != null && options(lines).anyMatch(option::equalsIgnoreCase);
  }

  /** Returns the options of the connection that the handler has set, and this one. */
  private static String withOption(@Nullable List<String> lines, String option, String opposite) {
    if (lines == null) {
      return option;
    }
    Stream<String> others =
        options(lines)
            .filter(one -> !one.equalsIgnoreCase(option) && !one.equalsIgnoreCase(opposite));
    return Stream.concat(others, Stream.of(option)).collect(Collectors.joining(", "));
  }

  /** Returns the elements of a list in the lines of a header: RFC 9110, section 5.6.1. */
  private static Stream<String> options(List<String> lines) {
    return lines.stream()
        .flatMap(line -> Arrays.stream(line.split(",", -1)))
        .map(String::strip)
        .filter(option -> !option.isEmpty());
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
    checkHeaders();
    keepsAlive = false;
    status = Status.SWITCHING_PROTOCOLS;
    connection.setNoLimit();
    writeHead(status);
    connection.output().flush();
    head.headers().forgetMap();
    return new Upgraded(connection.input(), connection.output(), connection.transport());
  }

  /** Told how the other protocol is ended when the server stops. */
  void farewell(Runnable farewell) {
    connection.farewell(farewell);
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
    if (!requestBody.hasEnded()) {
      connection.drainHasBegun();
      if (!requestBody.drain()) {
        keepsAlive = false;
      }
      requestBody.endReading(); // what was drained is not the end of the body to a later reader
    }
    end.countDown();
  }

  /** Ends it and the connection, in the middle. */
  void breakOff() {
    closed = true;
    keepsAlive = false;
    connection.abort();
    end.countDown();
  }

  /** Returns how the client has broken the rules, if a handler has failed by that, else null. */
  @Nullable Rejected flawBehind(Throwable thrown) {
    return requestBody.flawBehind(thrown);
  }

  /** Ends it though it has not been handled; tells the client if that is still possible. */
  void fail(Rejected why) {
    if (hasEnded()) {
      return;
    }
    if (status != -1) {
      breakOff();
      return;
    }
    keepsAlive = false;
    try {
      refuse(why);
    } catch (IOException e) {
      breakOff();
    }
  }

  /** Answers with the reason why it is not handled; the connection is kept if that can be. */
  void refuse(Rejected why) throws IOException {
    byte[] text = why.text();
    responseHeaders.clear();
    responseHeaders.set("Content-type", Rejected.TEXT_TYPE);
    if (head.isHead()) {
      responseHeaders.set("Content-length", Integer.toString(text.length));
    }
    sendResponseHeaders(why.status(), text.length);
    responseBody.write(text, 0, text.length);
    responseBody.close();
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
