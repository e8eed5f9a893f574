package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Browser;
import dev.weft.testkit.Feature;
import dev.weft.testkit.TestServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page of a failure's report in Chromium, wide and as on a phone. */
@Feature("V4")
@Timeout(60)
class ReportPageTest {
  private static final Path SCREENSHOTS = Path.of("target", "screenshots");
  private static final int PHONE = 390;

  private static TestServer driver;
  private static Browser browser;
  private static FailureReport report;

  @BeforeAll
  static void openPage(@TempDir Path folder) throws IOException, InterruptedException {
    report =
        Simulation.explore(
                SimulationOptions.seeds(10).name("greets <everybody>"), ReportPageTest::greet)
            .failure()
            .orElseThrow();
    Path page = Files.writeString(folder.resolve("report.html"), report.html());
    driver = TestServer.start("chromedriver");
    browser = new Browser(driver, 1280, 900);
    browser.open(page.toUri().toString());
  }

  @AfterAll
  static void stopBrowser() throws IOException {
    if (browser != null) {
      browser.close();
    }
    if (driver != null) {
      driver.close();
    }
  }

  /** Three hosts and some fibers with long names, one of which fails. */
  private static void greet(Simulation sim) throws Exception {
    sim.network().latency(Duration.ofMillis(1), Duration.ofMillis(3));
    for (String name : List.of("mail", "printer")) {
      sim.host(
          name,
          () -> {
            try (ServerSocket server = new ServerSocket(25)) {
              while (true) {
                server.accept().close();
              }
            }
          });
    }
    Thread other =
        Thread.ofVirtual().name("the fiber with \"quotes\" & more").start(() -> connect("mail"));
    connect("printer");
    other.join();
    throw new AssertionError("a & b < c: " + "averylongwordthathasnospaceinit".repeat(6));
  }

  private static void connect(String host) {
    try (Socket socket = new Socket(host, 25)) {
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void assertNothingIsWiderThanTheScreen() {
    assertThat(
            browser.run(
                "const page = document.documentElement; return page.scrollWidth - page.clientWidth"))
        .isEqualTo(0L);
  }

  @Test
  void aWidePageHasALaneForEachFiber() throws IOException {
    browser.resize(1280, 900);
    browser.dark(false);
    assertThat(browser.texts("h1"))
        .containsExactly("greets <everybody> fails with seed " + report.seed());
    assertThat(browser.texts("th").subList(0, 2)).containsExactly("#", "time");
    assertThat(browser.texts("th.lane")).isEqualTo(report.fibers());
    assertThat(browser.texts("td.on")).hasSameSizeAs(report.events());
    assertThat(browser.texts("td.lane")).hasSize(report.events().size() * report.fibers().size());
    assertNothingIsWiderThanTheScreen();
    assertThat(browser.log()).isEmpty();
    browser.screenshot(SCREENSHOTS.resolve("report.png"));
    browser.dark(true);
    browser.screenshot(SCREENSHOTS.resolve("report-dark.png"));
  }

  @Test
  void onAPhoneEachEventNamesItsFiberAndNothingIsWiderThanTheScreen() throws IOException {
    browser.resize(PHONE, 800);
    browser.dark(false);
    assertNothingIsWiderThanTheScreen();
    assertThat(browser.texts("th")).isEmpty();
    assertThat(browser.texts("td.lane")).hasSameSizeAs(report.events());
    Object named =
        browser.run(
            "return [...document.querySelectorAll('tbody tr')]"
                + ".map(e => getComputedStyle(e, '::after').content)");
    assertThat((List<?>) named)
        .first()
        .isEqualTo("\"" + report.fibers().get(report.events().getFirst().fiber()) + "\"");
    browser.screenshot(SCREENSHOTS.resolve("report-phone.png"));
    browser.dark(true);
    browser.screenshot(SCREENSHOTS.resolve("report-phone-dark.png"));
  }
}
