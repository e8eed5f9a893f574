package dev.weft.im;

import static org.assertj.core.api.Assertions.fail;

import dev.weft.im.BrowserDriver.WebDriverException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A browser of its own, without a screen: as a user sees and uses it. */
final class Browser implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final long POLL_MILLIS = 20;
  private static final String ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

  /** The key that sends. */
  static final String ENTER = "\uE007";

  private static final List<String> OPTIONS =
      List.of(
          "--headless=new",
          "--no-sandbox",
          "--disable-gpu",
          "--disable-dev-shm-usage",
          "--disable-quic",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
          // whatever else it would like to talk to
          "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1");

  private final BrowserDriver driver;
  private final String session;

  /** Starts one with a fresh profile, and a window of that size. */
  Browser(BrowserDriver driver, int width, int height) {
    this.driver = driver;
    String options =
        OPTIONS.stream().map(BrowserJson::quote).collect(Collectors.joining(",", "[", "]"));
    Map<?, ?> answer =
        (Map<?, ?>)
            Objects.requireNonNull(
                driver.call(
                    "POST",
                    "/session",
                    """
                    {"capabilities": {"alwaysMatch": {
                      "goog:chromeOptions": {"args": %s},
                      "goog:loggingPrefs": {"browser": "ALL"}}}}"""
                        .formatted(options)));
    session = "/session/" + answer.get("sessionId");
    resize(width, height);
  }

  void open(String url) {
    post("/url", "{\"url\": %s}".formatted(BrowserJson.quote(url)));
  }

  void reload() {
    post("/refresh", "{}");
  }

  /** Sets the size of the page, by a device of that size: a window cannot be that narrow. */
  void resize(int width, int height) {
    devTools(
        "Emulation.setDeviceMetricsOverride",
        "{\"width\": %d, \"height\": %d, \"deviceScaleFactor\": 1, \"mobile\": false}"
            .formatted(width, height));
  }

  void dark(boolean dark) {
    devTools(
        "Emulation.setEmulatedMedia",
        "{\"features\": [{\"name\": \"prefers-color-scheme\", \"value\": \"%s\"}]}"
            .formatted(dark ? "dark" : "light"));
  }

  private void devTools(String command, String parameters) {
    post("/goog/cdp/execute", "{\"cmd\": \"%s\", \"params\": %s}".formatted(command, parameters));
  }

  void click(String css) {
    retrying(() -> post(find(css) + "/click", "{}"));
  }

  /** Types into a field, which it replaces. */
  void fill(String css, String text) {
    retrying(() -> post(find(css) + "/clear", "{}"));
    type(css, text);
  }

  /** Types, after what is there. */
  void type(String css, String text) {
    retrying(() -> post(find(css) + "/value", "{\"text\": %s}".formatted(BrowserJson.quote(text))));
  }

  /** The page may replace an element between the finding and the using. */
  private static void retrying(Runnable action) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      try {
        action.run();
        return;
      } catch (WebDriverException e) {
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
        pause();
      }
    }
  }

  private String find(String css) {
    Map<?, ?> element =
        (Map<?, ?>)
            Objects.requireNonNull(
                post(
                    "/element",
                    "{\"using\": \"css selector\", \"value\": %s}"
                        .formatted(BrowserJson.quote(css))));
    return "/element/" + element.get(ELEMENT);
  }

  /** Returns the texts of all that is shown and matches, trimmed. */
  List<String> texts(String css) {
    Object result =
        run(
            "return [...document.querySelectorAll(arguments[0])]"
                + ".filter(e => e.checkVisibility()).map(e => e.textContent.trim())",
            css);
    return ((List<?>) Objects.requireNonNull(result)).stream().map(String::valueOf).toList();
  }

  /** Returns what a field contains. */
  String value(String css) {
    return String.valueOf(run("return document.querySelector(arguments[0]).value", css));
  }

  /** Runs the body of a function in the page. */
  @Nullable Object run(String script, String... arguments) {
    String list =
        Arrays.stream(arguments).map(BrowserJson::quote).collect(Collectors.joining(",", "[", "]"));
    return post(
        "/execute/sync",
        "{\"script\": %s, \"args\": %s}".formatted(BrowserJson.quote(script), list));
  }

  /** Waits until exactly these are shown. */
  void awaitTexts(String css, String... expected) {
    await(css, List.of(expected), found -> found.equals(List.of(expected)));
  }

  /** Waits until one is shown that contains this. */
  void awaitText(String css, String part) {
    await(css, part, found -> found.stream().anyMatch(text -> text.contains(part)));
  }

  /** Waits until nothing that matches is shown. */
  void awaitNone(String css) {
    await(css, "nothing", List::isEmpty);
  }

  private void await(String css, Object expected, Predicate<List<String>> done) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    List<String> found = texts(css);
    while (!done.test(found)) {
      if (System.nanoTime() - deadline > 0) {
        fail("%s should show %s, not %s; the browser said %s", css, expected, found, log());
      }
      pause();
      found = texts(css);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(POLL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** Returns what the browser has complained of since the last call. */
  List<String> log() {
    Object entries = Objects.requireNonNull(post("/se/log", "{\"type\": \"browser\"}"));
    return ((List<?>) entries)
        .stream().map(entry -> String.valueOf(((Map<?, ?>) entry).get("message"))).toList();
  }

  void screenshot(Path file) throws IOException {
    String png = String.valueOf(driver.call("GET", session + "/screenshot", ""));
    Files.createDirectories(file.getParent());
    Files.write(file, Base64.getDecoder().decode(png));
  }

  private @Nullable Object post(String path, String json) {
    return driver.call("POST", session + path, json);
  }

  /** Ends it, as closing its last window does. */
  @Override
  public void close() {
    driver.call("DELETE", session, "");
  }
}
