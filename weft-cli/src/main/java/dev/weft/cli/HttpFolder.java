package dev.weft.cli;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * Serves the files of a folder: whole or a range of them, unless the client has them already; a
 * folder is its {@code index.html} or a list.
 *
 * <p>Only regular files are served that are below the folder. Hidden ones are not, nor what a
 * symbolic link leads to outside: a path is first resolved to the real one, and that is looked at.
 */
final class HttpFolder implements HttpHandler {
  private static final int BUFFER = 64 * 1024;

  private final Path root;

  /**
   * Creates it.
   *
   * @throws IOException if the folder cannot be resolved
   */
  HttpFolder(Path folder) throws IOException {
    this.root = folder.toRealPath();
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
      switch (exchange.getRequestMethod()) {
        case "GET", "HEAD" -> serve(exchange);
        default -> {
          exchange.getResponseHeaders().set("Allow", "GET, HEAD");
          exchange.sendResponseHeaders(405, -1);
        }
      }
    }
  }

  private void serve(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    Optional<Path> found = find(path);
    if (found.isEmpty()) {
      send(exchange, 404, "text/plain; charset=utf-8", "there is nothing at " + path + "\n");
      return;
    }
    Path real = found.get();
    if (!Files.isDirectory(real)) {
      if (path.endsWith("/")) {
        send(exchange, 404, "text/plain; charset=utf-8", "there is no folder " + path + "\n");
      } else {
        sendFile(exchange, real);
      }
    } else if (!path.endsWith("/") && !path.isEmpty()) {
      exchange.getResponseHeaders().set("Location", withSlash(exchange));
      exchange.sendResponseHeaders(301, -1);
    } else {
      Optional<Path> index = below(real.resolve("index.html")).filter(Files::isRegularFile);
      if (index.isPresent()) {
        sendFile(exchange, index.get());
      } else {
        exchange
            .getResponseHeaders()
            .set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
        send(exchange, 200, "text/html; charset=utf-8", HttpListing.of(path, real, this::below));
      }
    }
  }

  /** Two slashes at the beginning would lead to another server. */
  private static String withSlash(HttpExchange exchange) {
    String query = exchange.getRequestURI().getRawQuery();
    String path = exchange.getRequestURI().getRawPath().replaceFirst("^/+", "/");
    return path + "/" + (query == null ? "" : "?" + query);
  }

  // ---- files ----

  /** Returns the real path of what a decoded path of a URI names, if that is served. */
  private Optional<Path> find(String path) {
    Path found = root;
    try {
      for (String name : path.split("/", -1)) {
        if (name.startsWith(".") || name.indexOf('\\') >= 0) {
          return Optional.empty();
        }
        found = found.resolve(name);
      }
    } catch (InvalidPathException e) {
      return Optional.empty();
    }
    return below(found);
  }

  /** Returns what a path really is, if that is a file or folder to be served. */
  private Optional<Path> below(Path path) {
    try {
      Path real = path.toRealPath();
      if (!real.startsWith(root) || !Files.isReadable(real)) {
        return Optional.empty();
      }
      for (Path name : root.relativize(real)) {
        if (name.toString().startsWith(".")) {
          return Optional.empty();
        }
      }
      BasicFileAttributes kind =
          Files.readAttributes(real, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      return Optional.of(real).filter(file -> kind.isRegularFile() || kind.isDirectory());
    } catch (IOException e) {
      return Optional.empty(); // it is not there
    }
  }

  private static void sendFile(HttpExchange exchange, Path file) throws IOException {
    try (SeekableByteChannel channel =
        Files.newByteChannel(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
      HttpConditions conditions =
          new HttpConditions(
              Files.getLastModifiedTime(file).toInstant(), channel.size(), Instant.now());
      Headers headers = exchange.getResponseHeaders();
      headers.set("Last-Modified", conditions.lastModified());
      headers.set("ETag", conditions.tag());
      headers.set("Cache-Control", "no-cache"); // keep it, and ask whether it has changed
      headers.set("Accept-Ranges", "bytes");
      boolean isGet = exchange.getRequestMethod().equals("GET");
      switch (conditions.answer(exchange.getRequestHeaders(), isGet)) {
        case HttpConditions.Nothing(int status) -> {
          if (status == 416) {
            headers.set("Content-Range", "bytes */" + channel.size());
          }
          exchange.sendResponseHeaders(status, -1);
        }
        case HttpConditions.Part(int status, long first, long length) -> {
          headers.set("Content-Type", HttpTypes.of(file.getFileName().toString()));
          if (status == 206) {
            headers.set(
                "Content-Range",
                "bytes %d-%d/%d".formatted(first, first + length - 1, channel.size()));
          }
          sendPart(exchange, status, channel, first, length);
        }
      }
    } catch (NoSuchFileException e) {
      send(exchange, 404, "text/plain; charset=utf-8", "it has just been deleted\n");
    }
  }

  private static void sendPart(
      HttpExchange exchange, int status, SeekableByteChannel channel, long first, long length)
      throws IOException {
    if (!sendHead(exchange, status, length)) {
      return;
    }
    OutputStream body = exchange.getResponseBody();
    ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(BUFFER, length));
    channel.position(first);
    for (long left = length; left > 0; left -= buffer.position()) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), left));
      if (channel.read(buffer) < 0) {
        throw new IOException("a file has got shorter while it was sent");
      }
      body.write(buffer.array(), 0, buffer.position());
    }
  }

  // ---- responses ----

  private static void send(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    if (sendHead(exchange, status, body.length)) {
      exchange.getResponseBody().write(body);
    }
  }

  /** Returns whether a body is to follow. */
  private static boolean sendHead(HttpExchange exchange, int status, long length)
      throws IOException {
    boolean isHead = exchange.getRequestMethod().equals("HEAD");
    if (isHead) {
      exchange.getResponseHeaders().set("Content-Length", Long.toString(length));
    }
    exchange.sendResponseHeaders(status, isHead || length == 0 ? -1 : length);
    return !isHead && length > 0;
  }
}
