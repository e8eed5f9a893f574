package dev.weft.im;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.weft.http.WebSocket;
import dev.weft.http.WeftHttpServerProvider;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Where browsers connect: the page at {@code /}, and its WebSocket at {@code /chat}. */
final class WebEndpoint implements AutoCloseable {
  private static final int BACKLOG = 1024;

  /** What a browser sends, and cookies of other servers of the host. */
  private static final int MOST_HEAD_BYTES = 8 * 1024;

  /** A line that is a little too long is refused; a message of more ends the connection. */
  private static final int MOST_MESSAGE_BYTES = 2 * Command.MOST_BYTES;

  /** Connections for the page, beside those that become WebSockets. */
  private static final int FOR_PAGES = 64;

  private static final Pattern FILE = Pattern.compile("[a-z0-9-]+\\.(html|js|css|svg|png|ico)");
  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml",
          "png", "image/png",
          "ico", "image/x-icon");

  /** The same as in index.html, and what only a header can say. */
  private static final String CONTENT_SECURITY_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'";

  private static final Map<String, String> HEADERS =
      Map.of(
          "Cache-Control", "no-cache",
          "Content-Security-Policy", CONTENT_SECURITY_POLICY,
          "Cross-Origin-Opener-Policy", "same-origin",
          "Cross-Origin-Resource-Policy", "same-origin",
          "Referrer-Policy", "no-referrer",
          "X-Content-Type-Options", "nosniff",
          "X-Frame-Options", "DENY");

  /**
   * What the server believes about where a client comes from.
   *
   * @param origins of pages that may connect, beside the server's own
   * @param forwarded whether a proxy in front tells the client's address
   */
  record Trust(List<String> origins, boolean forwarded) {}

  private final Node node;
  private final HttpServer server;
  private final InetSocketAddress address;
  private final boolean isSecure;
  private final Trust trust;

  // of the files by name, each once: clients that do not read what they asked for hold no copy
  private final Map<String, byte[]> contents = new ConcurrentHashMap<>();

  /**
   * Listens.
   *
   * @param connections how many WebSockets there may be
   */
  WebEndpoint(Node node, InetSocketAddress at, @Nullable Tls tls, Trust trust, int connections)
      throws IOException {
    WeftHttpServerProvider provider =
        new WeftHttpServerProvider()
            .withHeadBytes(MOST_HEAD_BYTES)
            .withConnections((int) Math.min(Integer.MAX_VALUE, (long) connections + FOR_PAGES));
    this.node = node;
    this.trust = trust;
    this.isSecure = tls != null;
    if (tls == null) {
      this.server = provider.createHttpServer(at, BACKLOG);
    } else {
      HttpsServer secure = provider.createHttpsServer(at, BACKLOG);
      secure.setHttpsConfigurator(new HttpsConfigurator(tls.context()));
      this.server = secure;
    }
    this.address = server.getAddress();
    // one context: a context /chat would get /chat.js too
    server.createContext("/", this::handle);
  }

  void start() {
    server.start();
  }

  InetSocketAddress address() {
    return address;
  }

  private void handle(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    if (path.equals("/chat") && isFromAllowedPage(exchange.getRequestHeaders())) {
      serve(exchange);
      return;
    }
    try (exchange) {
      if (path.equals("/chat")) {
        answer(exchange, 403, "text/plain", "not from that page".getBytes(StandardCharsets.UTF_8));
        return;
      }
      String method = exchange.getRequestMethod();
      if (!method.equals("GET") && !method.equals("HEAD")) {
        exchange.getResponseHeaders().set("Allow", "GET, HEAD");
        answer(exchange, 405, "text/plain", "only GET and HEAD".getBytes(StandardCharsets.UTF_8));
        return;
      }
      String file = path.equals("/") ? "index.html" : path.substring(1);
      byte[] content = contentOf(file);
      if (content == null) {
        answer(exchange, 404, "text/plain", "not here".getBytes(StandardCharsets.UTF_8));
      } else {
        String type = TYPES.get(file.substring(file.lastIndexOf('.') + 1));
        answer(exchange, 200, type, content);
      }
    }
  }

  /**
   * Returns whether a WebSocket may be opened: any page in a browser can try, with what the browser
   * knows of the user (RFC 6455, section 10.2). Programs that are no browsers tell no origin.
   */
  private boolean isFromAllowedPage(Headers headers) {
    List<String> origins = headers.getOrDefault("Origin", List.of());
    if (origins.isEmpty()) {
      return true;
    }
    String origin = origins.getFirst();
    String own = (isSecure ? "https://" : "http://") + headers.getFirst("Host");
    return origins.size() == 1
        && (origin.equalsIgnoreCase(own) || trust.origins().contains(origin));
  }

  private byte @Nullable [] contentOf(String file) throws IOException {
    byte[] known = contents.get(file);
    if (known != null || !FILE.matcher(file).matches()) {
      return known;
    }
    try (InputStream in = WebEndpoint.class.getResourceAsStream("web/" + file)) {
      if (in == null) {
        return null;
      }
      byte[] content = in.readAllBytes();
      contents.put(file, content);
      return content;
    }
  }

  private void answer(HttpExchange exchange, int status, String type, byte[] body)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    HEADERS.forEach(exchange.getResponseHeaders()::set);
    if (isSecure) {
      exchange.getResponseHeaders().set("Strict-Transport-Security", "max-age=31536000");
    }
    boolean head = exchange.getRequestMethod().equals("HEAD");
    exchange.sendResponseHeaders(status, head ? -1 : body.length);
    if (!head) {
      exchange.getResponseBody().write(body);
    }
  }

  private void serve(HttpExchange exchange) throws IOException {
    String place;
    try {
      place = place(exchange);
    } catch (UncheckedIOException e) {
      exchange.close(); // the client is gone already
      return;
    }
    WebSocket.handler(
            List.of(),
            MOST_MESSAGE_BYTES,
            socket -> new Session(node, new WebWire(socket, place)).run())
        .handle(exchange);
  }

  /** Returns where the client is: what the proxy in front says, if the server trusts one. */
  private String place(HttpExchange exchange) {
    List<String> forwarded =
        exchange.getRequestHeaders().getOrDefault("X-Forwarded-For", List.of());
    Optional<String> told = Optional.empty();
    if (trust.forwarded() && !forwarded.isEmpty()) {
      String all = forwarded.getLast();
      told = Place.ofForwarded(all.substring(all.lastIndexOf(',') + 1).strip());
    }
    return told.orElseGet(() -> Place.of(exchange.getRemoteAddress()));
  }

  /** Lines over WebSocket: each is a text message. */
  private record WebWire(WebSocket socket, String place) implements Wire {
    @Override
    public @Nullable String read() throws IOException, Refusal {
      Optional<String> line = socket.receiveText();
      if (line.isEmpty()) {
        return null;
      }
      String text = line.get();
      if (text.length() > Command.MOST_BYTES
          || text.getBytes(StandardCharsets.UTF_8).length > Command.MOST_BYTES) {
        throw Command.tooLong();
      }
      return text;
    }

    @Override
    public void write(List<String> lines) throws Unfinished {
      int done = 0;
      try {
        for (String line : lines) {
          socket.send(line);
          done++;
        }
      } catch (IOException e) {
        throw new Unfinished(done, e);
      }
    }

    @Override
    public boolean wantsPings() {
      return true;
    }

    @Override
    public void ping() throws Unfinished {
      try {
        socket.ping(new byte[0]);
      } catch (IOException e) {
        throw new Unfinished(0, e);
      }
    }

    @Override
    public void close() {
      socket.close();
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
