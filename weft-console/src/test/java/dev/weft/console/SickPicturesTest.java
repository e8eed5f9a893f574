package dev.weft.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Browser;
import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import dev.weft.testkit.TestServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The illnesses of {@code examples/Sick.java}, as the console shows them: the pictures of {@code
 * docs/operating.md}. With {@code -Dweft.docs.write=true} they are written anew.
 */
@Feature("O3")
@Timeout(60)
class SickPicturesTest {
  private static final Path ROOT = Path.of(System.getProperty("weft.root"));
  private static final Path DOCS = ROOT.resolve("docs/img");
  private static final Path TARGET = Path.of("target", "screenshots");
  private static final Pattern ADDRESS = Pattern.compile("weft: console at (\\S+)");

  /** How long a picture that is to be kept waits, so that its lanes are full. */
  private static final int SECONDS = Boolean.getBoolean("weft.docs.write") ? 12 : 0;

  @TempDir static Path classes;

  private static TestServer driver;
  private static Browser browser;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                classes.toString(),
                ROOT.resolve("examples/Sick.java").toString());
    assertThat(status).as("status of javac").isZero();
    driver = TestServer.start("chromedriver");
    browser = new Browser(driver, 920, 700);
  }

  @AfterAll
  static void stop() throws IOException {
    if (browser != null) {
      browser.close();
    }
    if (driver != null) {
      driver.close();
    }
  }

  private interface Looking {
    void look() throws Exception;
  }

  /** Starts the program, opens the page, looks until it shows the illness, and takes a picture. */
  private static void picture(String illness, int height, Looking looking) throws Exception {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(List.of("-Dweft.console=0", "-Xmx128m", "-cp"));
    words.add(System.getProperty("java.class.path") + ":" + classes);
    words.addAll(List.of("Sick", illness));
    // so few descriptors that the illness of that name shows: JVMs raise a soft limit to the hard
    // one
    words.addAll(0, List.of("bash", "-c", "ulimit -n 700; exec \"$@\"", "bash"));
    Process process = Command.of(words.toArray(String[]::new)).startWithErrors();
    try {
      browser.resize(920, height);
      browser.open(address(process.errorReader()));
      browser.awaitTexts("#status", "live");
      browser.awaitTexts("#command", "Sick");
      browser.awaitText(".scheduler h2", "service");
      Thread.sleep(SECONDS * 1_000L);
      looking.look();
      Path file = "operating-%s.png".formatted(illness).transform(TARGET::resolve);
      browser.screenshot(file);
      if (SECONDS > 0) {
        Files.copy(
            file,
            DOCS.resolve(file.getFileName()),
            java.nio.file.StandardCopyOption.REPLACE_EXISTING);
      }
      assertThat(browser.log()).isEmpty();
    } finally {
      browser.open("about:blank");
      process.destroyForcibly();
    }
  }

  private static String address(BufferedReader errors) throws IOException {
    for (String line = errors.readLine(); line != null; line = errors.readLine()) {
      Matcher matcher = ADDRESS.matcher(line);
      if (matcher.find()) {
        Thread.ofVirtual().start(() -> errors.lines().forEach(rest -> {}));
        return matcher.group(1);
      }
    }
    throw new AssertionError("the program has not printed the address of its console");
  }

  private static void scrollTo(String css) {
    browser.run("document.querySelector(arguments[0]).scrollIntoView({block: 'end'})", css);
  }

  /** Waits until a lane shows that its thread slept for as long as the page could see it. */
  private static void awaitSleep(int thread) throws InterruptedException {
    String dozing =
        """
        const canvas = document.querySelectorAll('.lane canvas')[arguments[0]];
        const pen = new OffscreenCanvas(canvas.width, canvas.height)
            .getContext('2d', { willReadFrequently: true });
        pen.drawImage(canvas, 0, 0);
        const middle = pen.getImageData(0, canvas.height / 2, canvas.width, 1).data;
        const edge = pen.getImageData(0, 0, canvas.width, 1).data;
        let seen = 0, asleep = 0;
        for (let i = 3; i < edge.length; i += 4) {
          seen += edge[i] > 0;
          asleep += edge[i] > 0 && edge[i] < 255 && middle[i] === 255;
        }
        return seen > canvas.width / 10 && asleep > .8 * seen;
        """;
    for (int i = 0; i < 500; i++) {
      if (Boolean.TRUE.equals(browser.run(dozing, thread))) {
        return;
      }
      Thread.sleep(20);
    }
    throw new AssertionError("lane " + thread + " does not show that its thread sleeps");
  }

  @Test
  void aStuckFiber() throws Exception {
    picture(
        "stuck",
        620,
        () -> {
          browser.awaitText("#waits .why", "the lock of mutex");
          browser.run(
              "[...document.querySelectorAll('#waits tr')].find(row =>"
                  + " row.textContent.includes('request-')).querySelector('button').click()");
          browser.awaitText("#stack-summary", "(held by fiber");
          browser.awaitText("#stack-frames", "Sick.withdraw");
        });
  }

  @Test
  void leakedFibers() throws Exception {
    picture(
        "leak",
        560,
        () -> {
          browser.click("#tab-fibers");
          browser.fill("#text", "reader");
          browser.awaitTexts("#found", "30 fibers");
          browser.awaitText("#list .why", "a value from channel");
        });
  }

  @Test
  void aHeldThread() throws Exception {
    picture(
        "hog",
        470,
        () -> {
          browser.awaitText(".lane.held .what", "held by one fiber");
          // the slice began before the page was opened
          browser.awaitText(".lane.held .what b", "100 %");
          boolean isFirst = browser.texts(".lane .what").getFirst().contains("held");
          awaitSleep(isFirst ? 1 : 0);
        });
  }

  @Test
  void aSlowDatabase() throws Exception {
    picture(
        "slow",
        620,
        () -> {
          browser.awaitText("#waits .why", "data from 127.0.0.1");
          awaitSleep(0); // both have slept since before the page was opened
          awaitSleep(1);
          scrollTo("#waits tr:nth-child(8)");
        });
  }

  @Test
  void outOfHelpers() throws Exception {
    picture(
        "helpers",
        470,
        () -> {
          browser.awaitText("#card-helpers .note", "36 calls wait");
          browser.awaitTexts(".card.alarm .label", "Helpers");
          browser.awaitText(".counts", "36 waiting for a helper");
          awaitSleep(0);
          awaitSleep(1);
        });
  }

  @Test
  void tooManySockets() throws Exception {
    picture(
        "sockets",
        470,
        () -> {
          browser.awaitText("#card-sockets .note", "of 700 fds");
          browser.awaitTexts(".card.alarm .label", "Sockets");
        });
  }
}
