package dev.weft.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Policy;
import dev.weft.Scheduler;
import dev.weft.Scope;
import dev.weft.Weft;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.sync.Mutex;
import dev.weft.testkit.Browser;
import dev.weft.testkit.Feature;
import dev.weft.testkit.TestServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page of the console in Chromium, of a program with something of everything. */
@Feature("O3")
@Timeout(60)
class ConsolePageTest {
  private static final Path SCREENSHOTS = Path.of("target", "screenshots");

  /** Seconds of load before the screenshots; more, as -Dweft.console.seconds=12, for the docs. */
  private static final int SECONDS = Integer.getInteger("weft.console.seconds", 1);

  private static TestServer driver;
  private static Browser browser;

  private final CountDownLatch end = new CountDownLatch(1);
  private Scheduler orders;
  private Scheduler reports;
  private Console console;

  @BeforeAll
  static void startBrowser() throws IOException, InterruptedException {
    System.setProperty("sun.java.command", "shop.Shop --port 8080"); // not the runner of tests
    driver = TestServer.start("chromedriver");
    browser = new Browser(driver, 1280, 900);
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

  @BeforeEach
  void startProgram() throws IOException {
    orders =
        Scheduler.builder().threads(2).name("orders").policy(Policy.workStealing()).build().start();
    reports = Scheduler.builder().threads(1).name("reports").build().start();
    Mutex ledger = new Mutex();
    for (int i = 0; i < 30; i++) {
      Random random = new Random(i);
      orders.go(FiberOptions.named("order-" + i), () -> order(random, ledger));
    }
    reports.go(FiberOptions.named("nightly"), this::nightly);
    reports.go(FiberOptions.named("mail"), this::mail);
    console = Console.start(0);
    browser.resize(1280, 900);
    browser.dark(false);
  }

  private void order(Random random, Mutex ledger) throws InterruptedException {
    while (end.getCount() > 0) {
      Fiber.sleep(Duration.ofMillis(10 + random.nextInt(90)));
      spin(200 + random.nextInt(1_500));
      if (ledger.tryLock(Duration.ofMillis(500))) {
        try {
          spin(50);
        } finally {
          ledger.unlock();
        }
      }
      if (random.nextInt(30) == 0) {
        spin(12_000 + random.nextInt(20_000));
      }
    }
  }

  private void nightly() throws InterruptedException {
    try (Scope scope = Scope.open()) {
      for (int i = 0; i < 3; i++) {
        int number = i;
        scope.go("shard-" + i, () -> shard(number));
      }
      scope.join();
    }
  }

  private void shard(int number) throws InterruptedException {
    try (Scope scope = Scope.open()) {
      scope.go("reader-" + number, () -> end.await());
      scope.go("writer-" + number, () -> end.await());
      scope.join();
    }
  }

  private void mail() throws Exception {
    while (end.getCount() > 0) {
      Weft.blocking(() -> end.await(400, TimeUnit.MILLISECONDS));
      spin(150_000);
      Fiber.sleep(Duration.ofMillis(700));
    }
  }

  private static void spin(long micros) {
    long until = System.nanoTime() + micros * 1_000;
    while (System.nanoTime() < until) {
      Thread.onSpinWait();
    }
  }

  @AfterEach
  void stopProgram() {
    browser.open("about:blank");
    console.close();
    end.countDown();
    orders.stop(Duration.ofSeconds(5));
    reports.stop(Duration.ofSeconds(5));
  }

  private void open() {
    browser.open(console.url().toString());
    browser.awaitTexts("#status", "live");
    browser.awaitText(".scheduler h2", "orders");
    browser.awaitTexts("#command", "Shop");
  }

  private void letRun() throws InterruptedException {
    end.await(SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void theOverviewShowsSchedulersLanesAndWaits() throws Exception {
    open();
    browser.awaitText(".scheduler h2", "reports");
    browser.awaitText(".scheduler .sum", "2 threads, 30 fibers");
    browser.awaitText("#waits .open", "reader-0");
    browser.awaitText("#waits .why", "CountDownLatch");
    browser.awaitText("#slow .open", "mail");
    browser.awaitText("#cards .label", "Switches");
    browser.awaitText(".lane .what", "slices/s");
    await("return inked() > 200", "slices are drawn");
    letRun();
    browser.screenshot(SCREENSHOTS.resolve("overview.png"));
    browser.dark(true);
    browser.screenshot(SCREENSHOTS.resolve("overview-dark.png"));
    assertThat(browser.log()).isEmpty();
  }

  /** Waits for a condition in the page; inked() counts the painted pixels of the lanes. */
  private static void await(String script, String what) throws InterruptedException {
    String inked =
        """
        function inked() {
          let n = 0;
          for (const canvas of document.querySelectorAll('.lane canvas')) {
            if (!canvas.width) continue;
            const copy = new OffscreenCanvas(canvas.width, canvas.height)
                .getContext('2d', { willReadFrequently: true });
            copy.drawImage(canvas, 0, 0);
            const d = copy.getImageData(0, 0, canvas.width, canvas.height).data;
            for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 60 && d[i + 2] > d[i] + 60) n++;
          }
          return n;
        }
        """;
    for (int i = 0; i < 500; i++) {
      if (Boolean.TRUE.equals(browser.run(inked + script))) {
        return;
      }
      Thread.sleep(20);
    }
    throw new AssertionError("has not come about: " + what);
  }

  @Test
  void aFiberIsFoundAndItsStackIsShownWithTheKeyboardAlone() throws Exception {
    open();
    browser.type("body", "/");
    browser.awaitText("#search label", "Find fibers");
    assertThat(browser.run("return document.activeElement.id")).isEqualTo("text");
    browser.type("#text", "READER");
    browser.awaitTexts("#list .open", "reader-0", "reader-1", "reader-2");
    browser.awaitTexts("#found", "3 fibers");
    browser.awaitTexts("#list .state", "waiting", "waiting", "waiting");
    browser.run("document.querySelector('#list .open').focus()");
    browser.type("#list .open", Browser.ENTER);
    browser.awaitText("#stack-title", "reader-0");
    browser.awaitText("#stack-frames", "ConsolePageTest");
    browser.awaitText("#stack-summary", "CountDownLatch");
    browser.screenshot(SCREENSHOTS.resolve("stack.png"));
    browser.type("#stack", "\uE00C"); // Escape
    browser.awaitNone("#stack-title");
    assertThat(browser.run("return document.activeElement.textContent")).isEqualTo("reader-0");
    browser.fill("#text", "nobody");
    browser.awaitText("#list .empty", "No fiber");
    assertThat(browser.log()).isEmpty();
  }

  @Test
  void tabsAreWalkedWithArrowsAndTheTreeOfScopesIsShown() throws Exception {
    open();
    browser.run("document.getElementById('tab-overview').focus()");
    browser.type("#tab-overview", "\uE012"); // left, around to the last
    browser.awaitText("#tree", "shard-1");
    assertThat(browser.run("return document.activeElement.id")).isEqualTo("tab-scopes");
    browser.awaitTexts("#tree > li > .open", "nightly");
    browser.awaitTexts("#tree > li > ul > li > ul > li > .open", "shard-0", "shard-1", "shard-2");
    browser.awaitText("#tree", "reader-2");
    browser.screenshot(SCREENSHOTS.resolve("scopes.png"));
    browser.type("#tab-scopes", "\uE012"); // left
    browser.awaitText("#list .open", "order-0");
    browser.screenshot(SCREENSHOTS.resolve("fibers.png"));
    assertThat(browser.log()).isEmpty();
  }

  @Test
  void thePageFitsAPhone() throws Exception {
    browser.resize(390, 844);
    open();
    browser.awaitText("#waits .open", "reader-0");
    browser.awaitText(".lane .what", "slices/s");
    for (String tab : List.of("overview", "fibers", "scopes")) {
      browser.click("#tab-" + tab);
      browser.awaitText("#" + tab, tab.equals("scopes") ? "nightly" : "order");
      assertThat((long) browser.run("return document.documentElement.scrollWidth"))
          .as("nothing of %s is wider than the screen", tab)
          .isLessThanOrEqualTo(390);
    }
    browser.click("#tab-overview");
    letRun();
    browser.screenshot(SCREENSHOTS.resolve("phone.png"));
    browser.run("document.querySelector('#waits').scrollIntoView()");
    browser.screenshot(SCREENSHOTS.resolve("phone-waits.png"));
  }

  @Test
  void everyControlHasANameAndLanesHaveText() {
    open();
    browser.awaitText(".lane .what", "slices/s");
    browser.awaitText("#waits .open", "reader-0");
    assertThat(
            browser.run(
                """
                return [...document.querySelectorAll('button, input, [role=img], [role=tab]')]
                  .filter(e => e.checkVisibility())
                  .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim()
                    || (e.id && document.querySelector(`label[for="${e.id}"]`))))
                  .map(e => e.outerHTML)
                """))
        .isEqualTo(List.of());
    assertThat((String) browser.run("return document.querySelector('.lane canvas').ariaLabel"))
        .matches("thread 0 of orders: \\d+ %(, .*slices/s.*| held by one fiber)");
    assertThat(browser.run("return document.getElementById('status').getAttribute('role')"))
        .isEqualTo("status");
  }

  private boolean hasLanes() {
    return ((SchedulerCore) orders).workers[0].lane != null;
  }

  /** A browser hides the tabs behind the one that is shown; here the page is told so. */
  private static void hide(boolean hidden) {
    browser.run(
        """
        Object.defineProperty(document, 'hidden', {configurable: true, get: () => %s});
        document.dispatchEvent(new Event('visibilitychange'));
        """
            .formatted(hidden));
  }

  @Test
  void aPageInAHiddenTabCountsAsClosed() throws Exception {
    open();
    assertThat(hasLanes()).isTrue();
    hide(true);
    browser.awaitTexts("#status", "not looking");
    while (hasLanes()) { // the test has a time limit
      Thread.sleep(5);
    }
    hide(false);
    browser.awaitTexts("#status", "live");
    while (!hasLanes()) {
      Thread.sleep(5);
    }
  }

  @Test
  void schedulersOfOneNameHaveABlockEach() throws Exception {
    try (Scheduler second = Scheduler.builder().threads(3).name("orders").build().start()) {
      second.go(() -> {});
      open();
      browser.awaitTexts(".scheduler h2", "orders", "orders", "reports");
      browser.awaitText(".scheduler:nth-child(2) .sum", "3 threads, 0 fibers");
      assertThat(browser.run("return document.querySelectorAll('.lane').length")).isEqualTo(6L);
    }
  }

  @Test
  void aPausedPageStopsAndThePageSaysThatTheConsoleHasEnded() throws Exception {
    open();
    browser.type("body", "p");
    browser.awaitTexts("#status", "paused");
    browser.awaitTexts("#pause", "Go on");
    browser.click("#pause");
    browser.awaitTexts("#status", "live");
    console.close();
    browser.awaitText("#status", "ended");
  }
}
