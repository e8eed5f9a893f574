package dev.weft.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The way from HTTP to WebSocket, RFC 6455, section 4.2, and back when the handler is done. */
final class WebSocketUpgrade implements HttpHandler {
  private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  private static final String VERSION = "13";
  private static final String EXTENSIONS = "Sec-WebSocket-Extensions";
  private static final int UPGRADE_REQUIRED = 426;

  /** How long 16 bytes are in base64, and how long they are. */
  private static final int KEY_LENGTH = 24;

  private static final int KEY_BYTES = 16;

  private final List<String> subprotocols;
  private final WebSocketHandler handler;
  private final int limit;
  private final int deflateFrom;

  WebSocketUpgrade(
      List<String> subprotocols, WebSocketHandler handler, int limit, int deflateFrom) {
    this.subprotocols = subprotocols;
    this.handler = handler;
    this.limit = limit;
    this.deflateFrom = deflateFrom;
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    Headers request = exchange.getRequestHeaders();
    Headers response = exchange.getResponseHeaders();
    String flaw = flawOf(exchange);
    if (flaw != null) {
      refuse(exchange, Status.BAD_REQUEST, flaw);
      return;
    }
    response.set("Upgrade", "websocket");
    response.set("Connection", "Upgrade");
    if (!List.of(VERSION).equals(request.get("Sec-WebSocket-Version"))) {
      response.set("Sec-WebSocket-Version", VERSION);
      refuse(exchange, UPGRADE_REQUIRED, "Sec-WebSocket-Version must be " + VERSION);
      return;
    }
    Optional<String> subprotocol = choose(tokens(request, "Sec-WebSocket-Protocol").toList());
    subprotocol.ifPresent(chosen -> response.set("Sec-WebSocket-Protocol", chosen));
    Optional<String> deflate =
        deflateFrom == 0 ? Optional.empty() : WebSocketDeflate.answer(request.get(EXTENSIONS));
    deflate.ifPresent(agreed -> response.set(EXTENSIONS, agreed));
    response.set("Sec-WebSocket-Accept", accept(request.getFirst("Sec-WebSocket-Key")));
    Exchange own = Exchange.of(exchange);
    WebSocket socket =
        new WebSocket(
            own.upgrade(),
            exchange.getRequestURI(),
            request,
            subprotocol,
            limit,
            deflate.isPresent() ? deflateFrom : 0);
    own.farewell(() -> socket.close(WebSocketClose.GOING_AWAY, "the server stops"));
    serve(socket);
  }

  // ---- the request ----

  /** Returns what is wrong with the request, or null; its version is looked at later. */
  private static @Nullable String flawOf(HttpExchange exchange) {
    Headers request = exchange.getRequestHeaders();
    if (!exchange.getRequestMethod().equals("GET")) {
      return "a WebSocket is asked for with GET, not " + exchange.getRequestMethod();
    }
    if (!exchange.getProtocol().equals("HTTP/1.1")) {
      return "a WebSocket is asked for with HTTP/1.1, not " + exchange.getProtocol();
    }
    if (tokens(request, "Upgrade").noneMatch("websocket"::equalsIgnoreCase)) {
      return "this is a WebSocket: the request must have the header Upgrade: websocket";
    }
    if (tokens(request, "Connection").noneMatch("upgrade"::equalsIgnoreCase)) {
      return "the request must have the header Connection: Upgrade";
    }
    if (hasBody(request)) {
      return "a request for a WebSocket must not have a body";
    }
    List<String> keys = request.get("Sec-WebSocket-Key");
    if (keys == null || keys.size() != 1 || !isKey(keys.getFirst())) {
      return "Sec-WebSocket-Key must be there once, and 16 bytes in base64";
    }
    try {
      WebSocketExtensions.parse(request.get(EXTENSIONS));
    } catch (ProtocolException e) {
      return e.getMessage();
    }
    return null;
  }

  /** Returns the parts of a header that is a list of tokens, in one line or several. */
  private static Stream<String> tokens(Headers headers, String name) {
    List<String> lines = headers.get(name);
    return lines == null
        ? Stream.empty()
        : lines.stream()
            .flatMap(line -> Arrays.stream(line.split(",", -1)))
            .map(String::strip)
            .filter(token -> !token.isEmpty());
  }

  /** Returns whether there is something between the request and the frames. */
  private static boolean hasBody(Headers request) {
    List<String> lengths = request.get("Content-Length");
    return request.containsKey("Transfer-Encoding")
        || (lengths != null && !lengths.stream().allMatch("0"::equals));
  }

  private static boolean isKey(String key) {
    try {
      return key.length() == KEY_LENGTH && Base64.getDecoder().decode(key).length == KEY_BYTES;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Returns the first of the server's that the client knows. */
  private Optional<String> choose(List<String> offered) {
    return subprotocols.stream().filter(offered::contains).findFirst();
  }

  // ---- the response ----

  private static void refuse(HttpExchange exchange, int status, String reason) throws IOException {
    byte[] body = (reason + "\n").getBytes(StandardCharsets.UTF_8);
    try (exchange) {
      exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
      boolean isHead = exchange.getRequestMethod().equals("HEAD");
      exchange.sendResponseHeaders(status, isHead ? -1 : body.length);
      if (!isHead) {
        exchange.getResponseBody().write(body);
      }
    }
  }

  /** Returns the answer to a key, which shows that a server knows what it is asked for. */
  static String accept(String key) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-1");
      byte[] hash = sha.digest((key + GUID).getBytes(StandardCharsets.ISO_8859_1));
      return Base64.getEncoder().encodeToString(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-1", e);
    }
  }

  // ---- what comes then ----

  private void serve(WebSocket socket) throws IOException {
    try {
      handler.handle(socket);
      socket.close();
    } catch (Throwable e) {
      if (isInterrupt(e)) {
        socket.close(WebSocketClose.GOING_AWAY, "the server ends this");
      } else {
        socket.close(WebSocketClose.FAILED, "the handler has failed");
      }
      switch (e) {
        case IOException io when socket.hasThrown(io) -> {} // no failure of the handler's
        case IOException io -> throw io;
        case RuntimeException unchecked -> throw unchecked;
        case Error error -> throw error;
        default -> throw new IOException("the handler of " + socket + " has failed: " + e, e);
      }
    }
  }

  private static boolean isInterrupt(Throwable e) {
    if (e instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      return true;
    }
    return e instanceof CancellationException
        || (e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException));
  }
}
