package dev.weft.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import dev.weft.http.WebSocket;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.security.MessageDigest;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Answers the requests to the console: the page, its script and style, the WebSocket; and nothing
 * to a request without the token.
 *
 * <p>The token is the first part of the path, so that relative links keep it. Two more checks are
 * for a browser that is made to ask by a page of another site: the host that the request names must
 * be an IP address, localhost, or a name that was allowed (else a name that points here, DNS
 * rebinding, would make that page one of the same origin), and a WebSocket's origin must be that
 * host.
 */
final class ConsoleHandler implements HttpHandler {
  private static final Map<String, String> TYPES =
      Map.of("html", "text/html", "css", "text/css", "js", "text/javascript");

  /** What the page consists of; read once. */
  private static final Map<String, String> FILES =
      Map.of("", "console.html", "console.css", "console.css", "console.js", "console.js");

  /** An IPv4 or bracketed IPv6 address. */
  private static final Pattern ADDRESS =
      Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-fA-F:.]+]");

  private final byte[] token;
  private final Set<String> hosts;
  private final HttpHandler live;

  ConsoleHandler(String token, Set<String> hosts, Collector collector) {
    this.token = token.getBytes(UTF_8);
    this.hosts = Set.copyOf(hosts.stream().map(h -> h.toLowerCase(Locale.ROOT)).toList());
    this.live = WebSocket.handler(socket -> new Viewer(socket, collector).serve());
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    Headers headers = exchange.getRequestHeaders();
    String path = exchange.getRequestURI().getRawPath();
    int slash = path.indexOf('/', 1);
    String given = slash < 0 ? path.substring(1) : path.substring(1, slash);
    String file = slash < 0 ? "" : path.substring(slash + 1);
    if (!isAllowed(headers.getFirst("Host"))
        || !MessageDigest.isEqual(token, given.getBytes(UTF_8))) {
      refuse(
          exchange,
          404,
          "not found: the address of the console has a token, which the program prints");
    } else if (file.equals("live")) {
      if (isSameOrigin(headers.getFirst("Origin"), headers.getFirst("Host"))) {
        live.handle(exchange);
      } else {
        refuse(exchange, 403, "the page of another site cannot look into this program");
      }
    } else if (slash < 0) { // relative links need the slash
      exchange.getResponseHeaders().set("Location", path + "/");
      refuse(exchange, 308, "");
    } else if (!FILES.containsKey(file)) {
      refuse(exchange, 404, "not found");
    } else if (!exchange.getRequestMethod().equals("GET")) {
      refuse(exchange, 405, "only GET is answered");
    } else {
      send(exchange, FILES.get(file));
    }
  }

  private boolean isAllowed(@Nullable String host) {
    if (host == null) {
      return false;
    }
    String name = host.replaceFirst(":\\d+$", "").toLowerCase(Locale.ROOT);
    return name.equals("localhost") || ADDRESS.matcher(name).matches() || hosts.contains(name);
  }

  /** Returns whether a request comes from the console's own page, or from no page at all. */
  private static boolean isSameOrigin(@Nullable String origin, @Nullable String host) {
    if (origin == null) {
      return true;
    }
    try {
      String authority = URI.create(origin).getRawAuthority();
      return authority != null && authority.equalsIgnoreCase(host);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static void refuse(HttpExchange exchange, int status, String text) throws IOException {
    send(exchange, status, "text/plain", (text + "\n").getBytes(UTF_8));
  }

  private static void send(HttpExchange exchange, String file) throws IOException {
    try (InputStream in = ConsoleHandler.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IOException("the jar of the console has no " + file);
      }
      send(exchange, 200, TYPES.get(file.substring(file.lastIndexOf('.') + 1)), in.readAllBytes());
    }
  }

  private static void send(HttpExchange exchange, int status, String type, byte[] body)
      throws IOException {
    Headers headers = exchange.getResponseHeaders();
    headers.set("Content-Type", type + "; charset=utf-8");
    headers.set("Cache-Control", "no-store");
    headers.set("Referrer-Policy", "no-referrer");
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    exchange.sendResponseHeaders(status, body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
    exchange.close();
  }
}
