package dev.weft.testkit;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebDriver;
import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.chromium.HasCdp;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.remote.Augmenter;
import org.openqa.selenium.remote.RemoteWebDriver;

/**
 * A browser of its own, without a screen: as a user sees and uses it. Selenium speaks to the
 * chromedriver that {@code bin/servers} runs, and so downloads nothing. A module that uses it needs
 * {@code selenium-chrome-driver} as a test dependency.
 */
public final class Browser implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final long POLL_MILLIS = 20;

  /** The key that sends. */
  public static final String ENTER = "\uE007";

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

  private final RemoteWebDriver driver;
  private final WebDriver devTools;

  /** Starts one with a fresh profile, and a page of that size. */
  public Browser(TestServer chromedriver, int width, int height) throws IOException {
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    ChromeOptions options = new ChromeOptions();
    options.addArguments(OPTIONS);
    options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
    driver = new RemoteWebDriver(URI.create(chromedriver.url()).toURL(), options, false);
    devTools = new Augmenter().augment(driver);
    resize(width, height);
  }

  public void open(String url) {
    driver.get(url);
  }

  public void reload() {
    driver.navigate().refresh();
  }

  /** Sets the size of the page, by a device of that size: a window cannot be that narrow. */
  public void resize(int width, int height) {
    devTools(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
  }

  public void dark(boolean dark) {
    devTools(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
  }

  private void devTools(String command, Map<String, Object> parameters) {
    ((HasCdp) devTools).executeCdpCommand(command, parameters);
  }

  public void click(String css) {
    retrying(() -> find(css).click());
  }

  /** Types into a field, which it replaces. */
  public void fill(String css, String text) {
    retrying(() -> find(css).clear());
    type(css, text);
  }

  /** Types, after what is there. */
  public void type(String css, String text) {
    retrying(() -> find(css).sendKeys(text));
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

  private WebElement find(String css) {
    return driver.findElement(By.cssSelector(css));
  }

  /** Returns the texts of all that is shown and matches, trimmed. */
  public List<String> texts(String css) {
    Object result =
        run(
            "return [...document.querySelectorAll(arguments[0])]"
                + ".filter(e => e.checkVisibility()).map(e => e.textContent.trim())",
            css);
    return ((List<?>) Objects.requireNonNull(result)).stream().map(String::valueOf).toList();
  }

  /** Returns what a field contains. */
  public String value(String css) {
    return String.valueOf(run("return document.querySelector(arguments[0]).value", css));
  }

  /** Runs the body of a function in the page. */
  public @Nullable Object run(String script, Object... arguments) {
    return driver.executeScript(script, arguments);
  }

  /** Waits until exactly these are shown. */
  public void awaitTexts(String css, String... expected) {
    await(css, List.of(expected), found -> found.equals(List.of(expected)));
  }

  /** Waits until one is shown that contains this. */
  public void awaitText(String css, String part) {
    await(css, part, found -> found.stream().anyMatch(text -> text.contains(part)));
  }

  /** Waits until nothing that matches is shown. */
  public void awaitNone(String css) {
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
  public List<String> log() {
    return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
        .map(LogEntry::getMessage)
        .toList();
  }

  public void screenshot(Path file) throws IOException {
    Files.createDirectories(file.getParent());
    Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
  }

  /** Ends it, as closing its last window does. */
  @Override
  public void close() {
    driver.quit();
  }
}
