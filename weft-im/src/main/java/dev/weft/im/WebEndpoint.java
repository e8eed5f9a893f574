package dev.weft.im;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.weft.http.WebSocket;
import dev.weft.http.WeftHttpServerProvider;
import dev.weft.time.Timer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Where browsers connect: the page at {@code /}, and its WebSocket at {@code /chat}. */
final class WebEndpoint implements AutoCloseable {
  private static final Duration PING_EVERY = Duration.ofSeconds(30);
  private static final Pattern FILE = Pattern.compile("[a-z0-9-]+\\.(html|js|css|svg|png|ico)");
  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml",
          "png", "image/png",
          "ico", "image/x-icon");

  private final Node node;
  private final HttpServer server;
  private final HttpHandler chat;
  private final InetSocketAddress address;

  WebEndpoint(Node node, InetSocketAddress at) throws IOException {
    this.node = node;
    this.server = new WeftHttpServerProvider().createHttpServer(at, 0);
    this.chat = WebSocket.handler(this::serve);
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
    if (path.equals("/chat")) {
      chat.handle(exchange);
      return;
    }
    try (exchange) {
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

  private static byte @Nullable [] contentOf(String file) throws IOException {
    if (!FILE.matcher(file).matches()) {
      return null;
    }
    try (InputStream in = WebEndpoint.class.getResourceAsStream("web/" + file)) {
      return in == null ? null : in.readAllBytes();
    }
  }

  private static void answer(HttpExchange exchange, int status, String type, byte[] body)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.getResponseHeaders().set("Cache-Control", "no-cache");
    exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
    boolean head = exchange.getRequestMethod().equals("HEAD");
    exchange.sendResponseHeaders(status, head ? -1 : body.length);
    if (!head) {
      exchange.getResponseBody().write(body);
    }
  }

  private void serve(WebSocket socket) {
    Timer pings = node.scheduler().timers().every(PING_EVERY, () -> ping(socket));
    try {
      new Session(node, new WebWire(socket)).run();
    } finally {
      pings.cancel();
    }
  }

  /** Keeps the way to the client busy: one that is gone is noticed sooner or later. */
  private static void ping(WebSocket socket) {
    try {
      socket.ping(new byte[0]);
    } catch (IOException e) {
      // the session, which receives, ends too
    }
  }

  /** Lines over WebSocket: each is a text message. */
  private record WebWire(WebSocket socket) implements Wire {
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
    public void close() {
      socket.close();
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
