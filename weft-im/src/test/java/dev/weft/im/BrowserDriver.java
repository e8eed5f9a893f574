package dev.weft.im;

import dev.weft.testkit.TestServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The chromedriver that {@code bin/servers} runs: it and its browsers end when it is closed, and
 * also when this process ends in whatever way. It is spoken to as W3C WebDriver tells.
 */
final class BrowserDriver implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final TestServer server;
  private final String url;
  private final HttpClient client = HttpClient.newHttpClient();

  /** Starts it. Without one, a test on a user's machine is skipped; in CI it fails. */
  static BrowserDriver start() throws IOException, InterruptedException {
    return new BrowserDriver(TestServer.start("chromedriver"));
  }

  private BrowserDriver(TestServer server) {
    this.server = server;
    this.url = server.url();
  }

  /** Calls a command of WebDriver and returns its value. */
  @Nullable Object call(String method, String path, String json) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).timeout(LIMIT);
    request.method(
        method, method.equals("POST") ? BodyPublishers.ofString(json) : BodyPublishers.noBody());
    try {
      String answer = client.send(request.build(), BodyHandlers.ofString()).body();
      Map<?, ?> object = (Map<?, ?>) Objects.requireNonNull(BrowserJson.parse(answer));
      @Nullable Object value = object.get("value");
      if (value instanceof Map<?, ?> map && map.containsKey("error")) {
        throw new WebDriverException(
            map.get("error") + ": " + map.get("message") + "\n  at " + path + " " + json);
      }
      return value;
    } catch (IOException e) {
      throw new WebDriverException(e + " at " + path);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WebDriverException("interrupted at " + path);
    }
  }

  @Override
  public void close() throws IOException {
    client.close();
    server.close();
  }

  /** The driver said no. */
  static final class WebDriverException extends RuntimeException {
    private static final long serialVersionUID = 1;

    WebDriverException(String message) {
      super(message);
    }
  }
}
