package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Browser;
import dev.weft.testkit.Feature;
import dev.weft.testkit.TestServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The chat page in two browsers, each a user, and the server between them. */
@Feature("A4")
class ChatPageTest {
  private static final String PASSWORD = "correct-horse";
  private static final String TEXTS = "#log .text";
  private static final String CUT_OFF =
      "window.realWebSocket = WebSocket; window.WebSocket = function () { throw new Error() }";
  private static final String BACK_AGAIN =
      "window.WebSocket = realWebSocket; window.dispatchEvent(new Event('online'))";
  private static final Path SCREENSHOTS = Path.of("target", "screenshots");

  private static TestServer driver;
  private static Browser anna;
  private static Browser ben;

  @TempDir Path folder;
  private ImServer server;

  @BeforeAll
  static void startBrowsers() throws IOException, InterruptedException {
    driver = TestServer.start("chromedriver");
    anna = new Browser(driver, 1280, 800);
    ben = new Browser(driver, 1280, 800);
  }

  @AfterAll
  static void stopBrowsers() throws IOException {
    if (anna != null) {
      anna.close();
    }
    if (ben != null) {
      ben.close();
    }
    if (driver != null) {
      driver.close();
    }
  }

  @BeforeEach
  void startServer() throws IOException {
    anna.resize(1280, 800);
    start(0);
  }

  @AfterEach
  void stopServer() {
    anna.open("about:blank");
    ben.open("about:blank");
    server.stop();
  }

  private void start(int port) throws IOException {
    server =
        ImServer.builder()
            .webPort(port)
            .database("jdbc:h2:file:" + folder.resolve("im"))
            .build()
            .start();
  }

  @Test
  void registerTalkAndComeBack() {
    register(anna, "anna");
    register(ben, "ben");
    join(anna, "lobby");
    anna.awaitText("#start", "No messages yet");
    join(ben, "lobby");
    anna.awaitTexts("#members .label", "anna (you)", "ben");

    say(anna, "Hello Ben");
    ben.awaitTexts(TEXTS, "Hello Ben");
    say(ben, "Hello Anna");
    anna.awaitTexts(TEXTS, "Hello Ben", "Hello Anna");
    anna.awaitTexts("#log .own .text", "Hello Ben");
    ben.awaitTexts("#log .own .text", "Hello Anna");
    ben.awaitTexts("#log .sender", "anna", "you");
    anna.awaitNone("#pending li");
    anna.awaitText("#announcer", "ben: Hello Anna");

    ben.reload(); // stays logged in, and comes back to the same room
    ben.awaitTexts("#title", "lobby");
    ben.awaitTexts(TEXTS, "Hello Ben", "Hello Anna");
    ben.click("#log-out");
    ben.awaitText("#login h1", "Weft chat");
    anna.awaitTexts("#members .away .label", "ben");
    say(anna, "Are you there?");
    ben.reload();
    ben.awaitText("#login h1", "Weft chat");
    logIn(ben, "ben");
    anna.awaitTexts("#members .online .label", "anna (you)", "ben");
    ben.click("#rooms li[data-key=lobby] button");
    ben.awaitTexts("#title", "lobby");
    ben.awaitTexts(TEXTS, "Hello Ben", "Hello Anna", "Are you there?");
  }

  @Test
  void directMessagesAndUnreadCounts() {
    register(anna, "anna");
    register(ben, "ben");
    join(anna, "lobby");
    join(ben, "lobby");
    anna.click("#members li[data-key=ben] button");
    anna.awaitTexts("#title", "ben");
    say(anna, "Just for you");
    anna.awaitTexts(TEXTS, "Just for you");

    ben.awaitTexts("#directs .count", "1");
    assertThat(ben.run("return document.title")).isEqualTo("(1) Weft chat");
    ben.awaitNone("#log li");
    ben.click("#directs li[data-key='@anna'] button");
    ben.awaitTexts(TEXTS, "Just for you");
    ben.awaitNone("#directs .count");
    say(ben, "Thanks");
    anna.awaitTexts(TEXTS, "Just for you", "Thanks");

    anna.click("#rooms li[data-key=lobby] button");
    say(anna, "to all");
    ben.awaitTexts("#rooms .count", "1");
    ben.reload();
    ben.awaitTexts(TEXTS, "Just for you", "Thanks");
    ben.click("#rooms li[data-key=lobby] button");
    ben.awaitTexts(TEXTS, "to all");
    ben.awaitTexts("#directs .label", "anna");
  }

  @Test
  void textIsNeverMarkup() {
    register(anna, "anna");
    register(ben, "ben");
    join(anna, "lobby");
    join(ben, "lobby");
    List<String> attacks =
        List.of(
            "<img src=x onerror=\"document.title='broken'\">",
            "<script>document.title='broken'</script>",
            "javascript:alert(1) &lt;b&gt; \u202e\"'`");
    attacks.forEach(text -> say(anna, text));
    String[] expected = attacks.toArray(String[]::new);
    anna.awaitTexts(TEXTS, expected);
    ben.awaitTexts(TEXTS, expected);
    assertThat(ben.run("return document.querySelectorAll('#chat :is(img, script, b, a)').length"))
        .isEqualTo(0L);
    assertThat(ben.run("return document.title")).isEqualTo("Weft chat");
    assertThat(ben.log()).isEmpty();
  }

  @Test
  void mistakesAreShown() {
    register(anna, "anna");
    ben.open(page());
    fillLogin(ben, "no spaces", PASSWORD);
    ben.click("#log-in");
    ben.awaitText("#login-error", "no spaces");
    fillLogin(ben, "ben", "short");
    ben.click("#register");
    ben.awaitText("#login-error", "8 to 128");
    fillLogin(ben, "anna", PASSWORD);
    ben.click("#register");
    ben.awaitText("#login-error", "anna");
    fillLogin(ben, "anna", "wrong-password");
    ben.click("#log-in");
    ben.awaitText("#login-error", "password");

    fillLogin(ben, "ben", PASSWORD);
    ben.click("#register");
    ben.awaitTexts("#me", "ben");
    ben.fill("#join-name", "two words");
    ben.click("#join-form button");
    ben.awaitText("#join-error", "no spaces");
    join(ben, "@nobody");
    ben.type("#text", "Is there anybody?" + Browser.ENTER);
    ben.awaitText("#error", "nobody");
    assertThat(ben.value("#text")).isEqualTo("Is there anybody?");

    join(ben, "lobby");
    paste(ben, "\u6f22".repeat(4000)); // too many bytes, as only the server knows
    ben.type("#text", Browser.ENTER);
    ben.awaitText("#error", "8192");
    assertThat(ben.value("#text")).hasSize(4000);
    paste(ben, "x".repeat(4097));
    ben.awaitTexts("#count.over", "4097 of 4096 characters");
    ben.type("#text", Browser.ENTER);
    ben.awaitText("#error", "at most 4096");
    assertThat(ben.value("#text")).hasSize(4097);
    ben.fill("#text", "short now" + Browser.ENTER);
    ben.awaitTexts(TEXTS, "short now");
    ben.awaitNone("#error");

    ben.click("#leave");
    ben.awaitNone("#rooms li");
    ben.awaitText("#nothing-open", "Choose");
    ben.click("#log-out");
    ben.awaitText("#login h1", "Weft chat");
    assertThat(ben.run("return localStorage.length + sessionStorage.length")).isEqualTo(0L);
  }

  @Test
  void olderMessagesComeByScrolling() {
    register(anna, "anna");
    join(anna, "lobby");
    String[] all = IntStream.rangeClosed(1, 120).mapToObj(i -> "m" + i).toArray(String[]::new);
    for (String text : all) {
      anna.type("#text", text + Browser.ENTER);
    }
    anna.awaitTexts(TEXTS, all);
    anna.reload();
    anna.awaitTexts(TEXTS, Stream.of(all).skip(70).toArray(String[]::new));
    anna.run("document.querySelector('#scroller').scrollTop = 0");
    anna.awaitTexts(TEXTS, Stream.of(all).skip(20).toArray(String[]::new));
    anna.run("document.querySelector('#older').click()"); // a real one would scroll there first
    anna.awaitTexts(TEXTS, all);
    anna.awaitText("#start", "beginning");
    anna.awaitNone("#older");
  }

  @Test
  void severalWindowsOfOneUser() {
    register(anna, "anna");
    ben.open(page());
    logIn(ben, "anna");
    join(anna, "lobby");
    ben.awaitTexts("#rooms .label", "lobby");
    ben.click("#rooms li button");
    say(anna, "from one");
    ben.awaitTexts("#log .own .text", "from one");
    say(ben, "from the other");
    anna.awaitTexts("#log .own .text", "from one", "from the other");
    anna.awaitNone("#rooms .count");
  }

  @Test
  void reconnectsWithNothingMissingOrDoubled() throws IOException {
    register(anna, "anna");
    register(ben, "ben");
    join(anna, "lobby");
    join(ben, "lobby");
    say(anna, "one");
    say(ben, "two");
    anna.awaitTexts(TEXTS, "one", "two");

    int port = server.webAddress().getPort();
    server.stop();
    anna.awaitText("#connecting", "Connecting");
    ben.awaitText("#connecting", "Connecting");
    anna.type("#text", "three" + Browser.ENTER);
    anna.awaitText("#error", "no connection");
    assertThat(anna.value("#text")).isEqualTo("three");
    anna.screenshot(SCREENSHOTS.resolve("connecting.png"));
    anna.awaitNone("#members .online"); // nobody knows now
    ben.run(CUT_OFF); // for longer, so he misses something
    start(port);
    anna.awaitNone("#connecting");
    anna.awaitNone("#error"); // it was of the connection only
    anna.type("#text", Browser.ENTER);
    anna.awaitTexts(TEXTS, "one", "two", "three");
    say(anna, "four");
    anna.awaitTexts(TEXTS, "one", "two", "three", "four");
    ben.run(BACK_AGAIN);
    ben.awaitNone("#connecting");
    ben.awaitTexts(TEXTS, "one", "two", "three", "four");
    anna.awaitTexts("#members .online .label", "anna (you)", "ben");
    say(ben, "five");
    anna.awaitTexts(TEXTS, "one", "two", "three", "four", "five");
    ben.awaitTexts(TEXTS, "one", "two", "three", "four", "five");
  }

  @Test
  void aWindowThatWasCutOffGetsWhatAnotherOfTheSameUserGot() throws IOException {
    register(anna, "anna");
    ben.open(page());
    logIn(ben, "anna");
    join(anna, "lobby");
    join(ben, "lobby");
    say(anna, "m0");
    ben.awaitTexts(TEXTS, "m0");
    int port = server.webAddress().getPort();
    server.stop();
    ben.awaitText("#connecting", "Connecting");
    ben.run(CUT_OFF);
    start(port);
    anna.awaitNone("#connecting");
    String[] all = IntStream.range(0, 120).mapToObj(i -> "m" + i).toArray(String[]::new);
    for (int i = 1; i < all.length; i++) {
      anna.type("#text", all[i] + Browser.ENTER);
    }
    anna.awaitTexts(TEXTS, all);
    ben.run(BACK_AGAIN);
    ben.awaitTexts(TEXTS, all);
  }

  @Test
  void aTextInFlightIsNeitherLostNorDoubled() throws IOException {
    register(anna, "anna");
    join(anna, "lobby");
    say(anna, "one");
    String whenSaying =
        "const send = WebSocket.prototype.send; WebSocket.prototype.send = function (line) {"
            + "if (!line.startsWith('SAY')) { send.call(this, line); return }"
            + "WebSocket.prototype.send = send; %s }";

    anna.run(whenSaying.formatted("send.call(this, line); this.close()"));
    anna.type("#text", "two" + Browser.ENTER);
    anna.awaitTexts(TEXTS, "one", "two");
    anna.awaitNone("#pending li");
    anna.awaitNone("#connecting");
    assertThat(anna.value("#text")).isEmpty();

    anna.run(whenSaying.formatted("this.close()"));
    anna.type("#text", "three" + Browser.ENTER);
    anna.awaitText("#error", "Press Enter");
    anna.awaitNone("#pending li");
    assertThat(anna.value("#text")).isEqualTo("three");
    anna.type("#text", Browser.ENTER);
    anna.awaitTexts(TEXTS, "one", "two", "three");
    anna.reload();
    anna.awaitTexts(TEXTS, "one", "two", "three");
  }

  @Test
  void membersComeAndGoWithoutAsking() {
    register(anna, "anna");
    register(ben, "ben");
    join(anna, "lobby");
    anna.awaitTexts("#members .label", "anna (you)");
    // from now on nothing is asked: what is shown was told
    anna.run(
        "window.asked = []; const send = WebSocket.prototype.send;"
            + "WebSocket.prototype.send = function (line) { asked.push(line); send.call(this, line) }");
    join(ben, "lobby");
    anna.awaitTexts("#members .label", "anna (you)", "ben");
    ben.click("#leave");
    anna.awaitTexts("#members .label", "anna (you)");
    assertThat(anna.run("return asked.filter(line => !line.startsWith('SEEN')).length"))
        .isEqualTo(0L);
  }

  @Test
  void privateRoomsAndInvitations() {
    register(anna, "anna");
    register(ben, "ben");
    anna.click("#join-private");
    join(anna, "den");
    ben.fill("#join-name", "den" + Browser.ENTER);
    ben.awaitText("#join-error", "private");
    anna.fill("#invite-name", "ben" + Browser.ENTER);
    anna.awaitTexts("#invited", "ben is invited.");
    ben.awaitTexts("#invitations .label", "den");
    ben.reload();
    ben.awaitTexts("#invitations .label", "den");
    ben.click("#invitations button");
    ben.awaitTexts("#title", "den");
    ben.awaitNone("#invitations li");
    anna.awaitTexts("#members .label", "anna (you)", "ben");
    say(ben, "thank you");
    anna.awaitTexts(TEXTS, "thank you");
  }

  @Test
  void unreadMessagesShowOnAPhone() {
    register(anna, "anna");
    register(ben, "ben");
    join(anna, "lobby");
    join(ben, "lobby");
    anna.resize(390, 780);
    anna.awaitNone("#elsewhere");
    join(ben, "@anna");
    say(ben, "psst");
    anna.awaitTexts("#elsewhere", "1");
    anna.click("#back");
    anna.awaitTexts("#directs .count", "1");
    anna.click("#directs li[data-key='@ben'] button");
    anna.awaitTexts(TEXTS, "psst");
    anna.awaitNone("#elsewhere");
  }

  @Test
  void looksGood() throws IOException {
    register(ben, "Carla");
    join(ben, "lobby");
    ben.click("#log-out");
    register(anna, "Anna");
    register(ben, "ben.weaver");
    join(anna, "weft");
    join(anna, "lobby");
    anna.awaitTexts("#members .away .label", "Carla");
    join(ben, "lobby");
    say(anna, "Good morning! Has anybody tried the new WebSocket endpoint?");
    ben.awaitText(TEXTS, "Good morning");
    say(ben, "Yes, since yesterday: each connection is a fiber.");
    say(ben, "It is plain blocking code, and holds no thread while it waits.");
    anna.awaitText(TEXTS, "plain blocking");
    say(anna, "And the database behind it?");
    ben.awaitText(TEXTS, "database");
    say(ben, "Plain JDBC, unmodified. <b>Not even</b> the driver knows.");
    anna.awaitText(TEXTS, "unmodified");
    say(anna, "That is what I hoped for. Thank you!");
    join(ben, "@Anna");
    say(ben, "Lunch at noon?");
    anna.awaitTexts("#directs .count", "1");
    anna.screenshot(SCREENSHOTS.resolve("desktop.png"));
    anna.dark(true);
    anna.screenshot(SCREENSHOTS.resolve("desktop-dark.png"));
    anna.resize(390, 780);
    anna.screenshot(SCREENSHOTS.resolve("phone-dark.png"));
    anna.dark(false);
    anna.screenshot(SCREENSHOTS.resolve("phone.png"));
    anna.click("#members-button");
    anna.screenshot(SCREENSHOTS.resolve("phone-members.png"));
    assertThat(anna.run("return document.documentElement.scrollWidth")).isEqualTo(390L);
    anna.click("#members-button");
    anna.click("#back");
    anna.awaitTexts("#me", "Anna");
    anna.screenshot(SCREENSHOTS.resolve("phone-list.png"));
    anna.click("#log-out");
    anna.screenshot(SCREENSHOTS.resolve("phone-login.png"));
  }

  private String page() {
    return "http://127.0.0.1:" + server.webAddress().getPort() + "/";
  }

  private void register(Browser browser, String name) {
    browser.open(page());
    fillLogin(browser, name, PASSWORD);
    browser.click("#register");
    browser.awaitTexts("#me", name);
  }

  private static void logIn(Browser browser, String name) {
    fillLogin(browser, name, PASSWORD);
    browser.click("#log-in");
    browser.awaitTexts("#me", name);
  }

  private static void fillLogin(Browser browser, String name, String password) {
    browser.fill("#name", name);
    browser.fill("#password", password);
  }

  private static void join(Browser browser, String room) {
    browser.fill("#join-name", room + Browser.ENTER);
    browser.awaitTexts("#title", room.replaceFirst("^@", ""));
  }

  private static void paste(Browser browser, String text) {
    browser.run(
        "const text = document.querySelector('#text'); text.value = arguments[0];"
            + "text.dispatchEvent(new Event('input'))",
        text);
  }

  private static void say(Browser browser, String text) {
    browser.type("#text", text + Browser.ENTER);
    browser.awaitNone("#pending li");
    assertThat(browser.value("#text")).isEmpty();
  }
}
