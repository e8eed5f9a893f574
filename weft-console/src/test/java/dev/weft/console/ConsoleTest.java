package dev.weft.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.Scope;
import dev.weft.channel.Channel;
import dev.weft.console.start.PropertyConsole;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.watch.FiberLooks;
import dev.weft.testkit.Feature;
import dev.weft.testkit.WebSocketPage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The console without a browser: what is refused, what is told, and what costs nothing. */
@Feature("O3")
@Timeout(30)
class ConsoleTest {
  private final HttpClient client = HttpClient.newHttpClient();
  private Console console;
  private Scheduler scheduler;

  @BeforeEach
  void start() throws IOException {
    scheduler = Scheduler.builder().threads(2).name("shown").build().start();
    // @start region="start"
    console = Console.start(0); // at the loopback address, at any free port
    System.out.println("look at " + console.url());
    // @end region="start"
  }

  @AfterEach
  void stop() {
    console.close();
    scheduler.stop(Duration.ofSeconds(1));
    client.close();
  }

  private HttpResponse<String> get(URI uri, String... headers) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri);
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static URI live(URI url) {
    return URI.create(url.toString().replaceFirst("^http", "ws") + "live");
  }

  private WebSocket open(WebSocketPage page, String... headers) {
    WebSocket.Builder builder = client.newWebSocketBuilder();
    for (int i = 0; i < headers.length; i += 2) {
      builder.header(headers[i], headers[i + 1]);
    }
    return builder.buildAsync(live(console.url()), page).join();
  }

  private boolean hasLanes() {
    return ((SchedulerCore) scheduler).workers[0].lane != null;
  }

  private static void eventually(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) { // the test has a time limit
      LockSupport.parkNanos(1_000_000);
    }
  }

  // ---- what is refused ----

  @Test
  void thePageNeedsTheToken() throws Exception {
    URI url = console.url();
    assertThat(url.getHost()).isEqualTo("127.0.0.1");
    HttpResponse<String> page = get(url);
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.body()).contains("<title>Weft console</title>");
    assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
        .contains("default-src 'none'", "frame-ancestors 'none'");
    assertThat(page.headers().firstValue("Referrer-Policy")).contains("no-referrer");
    assertThat(get(url.resolve("console.js")).body()).contains("new WebSocket");
    assertThat(get(url.resolve("console.css")).statusCode()).isEqualTo(200);
    for (String path :
        new String[] {"/", "/console.js", "/live", "/wrong/", "/wrong/console.js", "/%2e/"}) {
      HttpResponse<String> refused = get(url.resolve(path));
      assertThat(refused.statusCode()).as(path).isEqualTo(404);
      assertThat(refused.body()).as(path).doesNotContain("html", "socket");
    }
    String almost = url.toString().substring(0, url.toString().length() - 2) + "/";
    assertThat(get(URI.create(almost)).statusCode()).isEqualTo(404);
    assertThat(get(url.resolve("nothing")).statusCode()).isEqualTo(404);
  }

  @Test
  void theWebSocketNeedsTheToken() {
    URI without = console.url().resolve("/live");
    assertRefused(without, 404);
    assertRefused(console.url().resolve("/wrong/live"), 404);
  }

  private void assertRefused(URI uri, int status, String... headers) {
    WebSocket.Builder builder = client.newWebSocketBuilder();
    for (int i = 0; i < headers.length; i += 2) {
      builder.header(headers[i], headers[i + 1]);
    }
    URI at = URI.create(uri.toString().replaceFirst("^http", "ws"));
    assertThatThrownBy(() -> builder.buildAsync(at, new WebSocketPage()).join())
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOfSatisfying(
            WebSocketHandshakeException.class,
            e -> assertThat(e.getResponse().statusCode()).isEqualTo(status));
  }

  @Test
  void aPageOfAnotherSiteGetsNothing() throws Exception {
    int port = console.url().getPort();
    URI live = console.url().resolve("live");
    assertRefused(live, 403, "Origin", "http://evil.example");
    assertRefused(live, 403, "Origin", "null");
    assertRefused(live, 403, "Origin", "http://127.0.0.1:" + (port == 1 ? 2 : port - 1));
    // DNS rebinding: a name of the other site that points to the loopback address
    String[] rebound = {"Host", "evil.example:" + port, "Origin", "http://evil.example:" + port};
    assertThat(get(console.url(), rebound).statusCode()).isEqualTo(404);
    assertRefused(live, 404, rebound);
    assertThat(get(console.url(), "Host", "localhost:9").statusCode()).isEqualTo(200);
    WebSocketPage page = new WebSocketPage();
    open(page, "Origin", "http://127.0.0.1:" + port);
    page.await("\"type\":\"tick\"");
  }

  @Test
  void aNameThatWasAllowedIsAnswered() throws Exception {
    try (Console named =
        Console.start(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), "console.example")) {
      assertThat(get(named.url(), "Host", "Console.Example").statusCode()).isEqualTo(200);
      assertThat(get(named.url(), "Host", "other.example").statusCode()).isEqualTo(404);
      assertThat(named.url().getPath()).isNotEqualTo(console.url().getPath());
    }
  }

  /** 127.1 is a name of 127.0.0.1, which a resolver understands, and no address in a request. */
  @Test
  void theNameOfThePropertyIsAnswered() throws Exception {
    try (Console named = PropertyConsole.open("127.1:0")) {
      assertThat(get(named.url(), "Host", "127.1:7070").statusCode()).isEqualTo(200);
      assertThat(get(named.url(), "Host", "127.2:7070").statusCode()).isEqualTo(404);
    }
    try (Console unnamed = PropertyConsole.open("0")) {
      assertThat(get(unnamed.url(), "Host", "127.1:7070").statusCode()).isEqualTo(404);
    }
  }

  @Test
  void aConsoleThatOthersReachSaysSo() throws Exception {
    assertThat(printedBy("127.0.0.1:0")).hasSize(1).first().asString().contains("console at http");
    assertThat(printedBy("0.0.0.0:0"))
        .hasSize(2)
        .last()
        .asString()
        .contains("listens at all addresses of this machine: other machines reach it");
  }

  /** The consoles are daemons and stay until the end of the tests. */
  private static List<String> printedBy(String where) throws IOException {
    PrintStream before = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      new PropertyConsole().start(where);
    } finally {
      System.setErr(before);
    }
    return printed.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void aConsoleWithoutAPortLeavesNothingBehind() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int hidden = FiberLooks.hidden();
      assertThatThrownBy(() -> Console.start(taken.getLocalPort())).isInstanceOf(IOException.class);
      assertThat(FiberLooks.hidden()).isEqualTo(hidden);
    }
  }

  @Test
  void aHeadIsShortWithoutTheToken() throws Exception {
    try (Socket socket = connect()) {
      send(socket, "GET / HTTP/1.1\r\nHost: x\r\nA: " + "a".repeat(16_384));
      assertThat(statusFrom(socket)).isEqualTo("HTTP/1.1 431");
    }
  }

  /** Connections that send nothing, or half a head, are closed for new ones; pages stay. */
  @Test
  void idleConnectionsMakeRoom() throws Exception {
    List<Socket> idle = new ArrayList<>();
    try (Socket page = silentPage()) {
      for (int i = 0; i < 100; i++) {
        idle.add(connect());
        send(idle.getLast(), i % 2 == 0 ? "" : "GET / HTTP/1.1\r\n");
      }
      assertThat(get(console.url()).statusCode()).isEqualTo(200);
      eventually(() -> idle.stream().filter(ConsoleTest::hasEnded).count() >= 100 - 64);
      assertThat(page.getInputStream().read()).as("a message").isGreaterThan(0);
    } finally {
      for (Socket each : idle) {
        each.close();
      }
    }
  }

  private static boolean hasEnded(Socket socket) {
    try {
      socket.setSoTimeout(1);
      return socket.getInputStream().read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true; // reset
    }
  }

  @Test
  void aPageThatAsksNonsenseIsClosed() throws Exception {
    WebSocketPage page = new WebSocketPage();
    open(page).sendText("explode now", true).join();
    assertThat(page.closed().get(10, TimeUnit.SECONDS)).startsWith("1008").contains("explode");
    WebSocketPage wordy = new WebSocketPage();
    open(wordy).sendText("é".repeat(5_000), true).join();
    assertThat(wordy.closed().get(10, TimeUnit.SECONDS)).startsWith("1008");
    WebSocketPage other = new WebSocketPage();
    open(other).sendText("stack 12x", true).join();
    assertThat(other.closed().get(10, TimeUnit.SECONDS)).startsWith("1008");
  }

  @Test
  void moreThanSixteenPagesAreRefused() throws Exception {
    for (int i = 0; i < 16; i++) {
      open(new WebSocketPage());
    }
    WebSocketPage oneMore = new WebSocketPage();
    open(oneMore);
    assertThat(oneMore.closed().get(10, TimeUnit.SECONDS)).startsWith("1013");
  }

  @Test
  void theConsoleEndsInASecondOrTwoAlthoughNoPageAnswers() throws Exception {
    List<Socket> silent = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      silent.add(silentPage());
    }
    eventually(this::hasLanes);
    long begin = System.nanoTime();
    console.close();
    assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(8)); // 10 in turn
    for (Socket socket : silent) {
      socket.close();
    }
  }

  /** A WebSocket that is opened and then neither read nor closed. */
  private Socket silentPage() throws IOException {
    Socket socket = connect();
    send(
        socket,
        """
        GET %slive HTTP/1.1\r
        Host: 127.0.0.1\r
        Connection: Upgrade\r
        Upgrade: websocket\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        \r
        """
            .formatted(console.url().getPath()));
    assertThat(statusFrom(socket)).isEqualTo("HTTP/1.1 101");
    return socket;
  }

  private Socket connect() throws IOException {
    return new Socket(console.url().getHost(), console.url().getPort());
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static String statusFrom(Socket socket) throws IOException {
    return new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
  }

  @Test
  void thePropertyNamesAPortOrAnAddress() throws Exception {
    assertThat(PropertyConsole.address("7070"))
        .isEqualTo(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7070));
    assertThat(PropertyConsole.address("0.0.0.0:7070"))
        .isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 7070));
    assertThat(PropertyConsole.address("[::1]:7070"))
        .isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("::1"), 7070));
    for (String wrong : new String[] {"", "x", "127.0.0.1", "1:2:x", "70000", "-1"}) {
      assertThatThrownBy(() -> PropertyConsole.address(wrong))
          .as(wrong)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("PORT");
    }
  }

  // ---- what is told ----

  @Test
  void aTickHasTheSchedulersTheirLanesAndTheLongestWaits() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    scheduler.go(FiberOptions.named("the \"waiter\""), () -> release.await());
    scheduler.go(
        FiberOptions.named("spinner").onThread(1),
        () -> {
          while (release.getCount() > 0) {
            long end = System.nanoTime() + 12_000_000;
            while (System.nanoTime() < end) {
              Thread.onSpinWait();
            }
            Fiber.sleep(Duration.ofMillis(15));
          }
        });
    WebSocketPage page = new WebSocketPage();
    open(page);
    String tick =
        page.await("\"name\":\"shown\"", "the \\\"waiter\\\"", "CountDownLatch", "\"spinner\"");
    assertThat(tick)
        .contains("\"helperLimit\":", "\"heap\":", "\"waiting\":1", "\"lane\":[[")
        .doesNotContain("\"name\":\"weft-console\"");
    release.countDown();
  }

  @Test
  void schedulersOfOneNameAreToldApart() throws Exception {
    try (Scheduler second = Scheduler.builder().threads(1).name("shown").build().start()) {
      scheduler.go(() -> {});
      second.go(() -> {});
      WebSocketPage page = new WebSocketPage();
      open(page);
      String tick = page.await("\"name\":\"shown\"");
      List<String> ids =
          Pattern.compile("\"id\":\"(\\d+)\",\"name\":\"shown\"")
              .matcher(tick)
              .results()
              .map(found -> found.group(1))
              .toList();
      assertThat(ids).hasSize(2).doesNotHaveDuplicates();
    }
  }

  @Test
  void aSearchAndAStackAreAnswered() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    Fiber<?> needle = scheduler.go(FiberOptions.named("Needle-1"), () -> release.await());
    for (int i = 0; i < 20; i++) {
      scheduler.go(FiberOptions.named("straw-" + i), () -> release.await());
    }
    WebSocketPage page = new WebSocketPage();
    WebSocket socket = open(page);
    page.await("\"waiting\":21");
    socket.sendText("look fibers needle", true).join();
    assertThat(page.await("\"type\":\"fibers\""))
        .contains("Needle-1", "\"more\":false")
        .doesNotContain("straw");
    socket.sendText("stack " + needle.id(), true).join();
    assertThat(page.await("\"type\":\"stack\""))
        .contains("Needle-1", "ConsoleTest", "CountDownLatch.await", "\"found\":true");
    socket.sendText("stack 987654321", true).join();
    assertThat(page.await("\"type\":\"stack\"")).contains("\"found\":false");
    release.countDown();
  }

  /** The words for a wait are the program's: a name, and the toString() of what is waited for. */
  @Test
  void longTextsOfTheProgramAreCut() throws Exception {
    String words = "x".repeat(300_000);
    Object blocker =
        new Object() {
          @Override
          public String toString() {
            return words;
          }
        };
    Fiber<?> fiber = scheduler.go(FiberOptions.named("n" + words), () -> LockSupport.park(blocker));
    WebSocketPage page = new WebSocketPage();
    WebSocket socket = open(page);
    assertThat(page.await("\"type\":\"tick\"", "\"nxxx", "\"waitsFor\":\"xxx"))
        .hasSizeLessThan(10_000);
    socket.sendText("stack " + fiber.id(), true).join();
    assertThat(page.await("\"type\":\"stack\""))
        .contains(", waits for xxx", "x… for ", "ConsoleTest")
        .hasSizeLessThan(10_000);
    LockSupport.unpark(fiber.thread());
  }

  @Test
  void theTreeOfScopesIsTold() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    scheduler.go(
        FiberOptions.named("parent"),
        () -> {
          try (Scope scope = Scope.open()) {
            scope.go(
                "child",
                () -> {
                  try (Scope inner = Scope.open()) {
                    inner.go("grandchild", () -> release.await());
                    inner.join();
                  }
                });
            scope.join();
          }
        });
    WebSocketPage page = new WebSocketPage();
    WebSocket socket = open(page);
    socket.sendText("look scopes", true).join();
    String tree = page.await("\"type\":\"scopes\"", "grandchild");
    assertThat(tree.indexOf("\"parent\"")).isLessThan(tree.indexOf("\"child\""));
    assertThat(tree)
        .contains("\"depth\":0", "\"depth\":4", "scope, 1 fiber")
        .doesNotContain("\"depth\":5");
    release.countDown();
  }

  // ---- what costs little ----

  /** A page that searches on and on: each search goes through all fibers. */
  @Test
  void searchesAreInTheBudget() throws Exception {
    int many = 100_000;
    Channel<Integer> release = Channel.rendezvous();
    for (int i = 0; i < many; i++) {
      scheduler.go(() -> release.receiveOrClosed());
    }
    eventually(() -> scheduler.stats().waiting() == many);
    WebSocketPage page = new WebSocketPage();
    WebSocket socket = open(page);
    page.await("\"type\":\"tick\"");
    search(socket, 2_000_000_000L); // uses the time that was saved
    long cpu = consoleCpuNanos();
    long begin = System.nanoTime();
    int searches = search(socket, 2_000_000_000L);
    cpu = consoleCpuNanos() - cpu;
    long passed = System.nanoTime() - begin;
    System.out.printf(
        "%d searches took %d ms CPU of %d ms%n", searches, cpu / 1_000_000, passed / 1_000_000);
    // beyond the budget: a rest of the saved time, and the messages themselves
    long allowed = passed / 50 + Collector.MOST_SAVED_NANOS / 4 + searches * 200_000L;
    assertThat(cpu).as(searches + " searches").isLessThan(allowed);
    release.close();
  }

  /** Asks for one search after the other; returns how many. */
  private static int search(WebSocket socket, long nanos) throws InterruptedException {
    long begin = System.nanoTime();
    int asked = 0;
    while (System.nanoTime() - begin < nanos) {
      socket.sendText("look fibers nothing-" + asked++, true).join();
      Thread.sleep(5); // faster than searches are answered, and no flood that costs by itself
    }
    return asked;
  }

  /** Returns the CPU time of the console's thread. */
  private static long consoleCpuNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return Stream.of(threads.getThreadInfo(threads.getAllThreadIds()))
        .filter(info -> info != null && info.getThreadName().startsWith("weft-console"))
        .mapToLong(info -> threads.getThreadCpuTime(info.getThreadId()))
        .sum();
  }

  @Test
  void aStackIsShownThoughNoWalkIsAllowed() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    Fiber<?> first = scheduler.go(FiberOptions.named("first"), () -> release.await());
    WebSocketPage page = new WebSocketPage();
    WebSocket socket = open(page);
    page.await("\"first\"");
    socket.sendText("pause", true).join();
    eventually(() -> !hasLanes());
    page.clear();
    socket.sendText("stack " + first.id(), true).join();
    assertThat(page.await("\"type\":\"stack\"")).contains("\"found\":true", "CountDownLatch");
    socket.sendText("look fibers first", true).join();
    assertThat(page.await("\"type\":\"fibers\"")).contains("\"name\":\"first\"");
    eventually(() -> !hasLanes()); // the page is paused still
    release.countDown();
  }

  @Test
  void fibersThatAreSetApartAreCounted() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    scheduler.go(
        FiberOptions.named("computes"),
        () -> {
          while (release.getCount() > 0) {
            long end = System.nanoTime() + 30_000_000;
            while (System.nanoTime() < end) {
              Thread.onSpinWait();
            }
            Fiber.yield();
          }
        });
    WebSocketPage page = new WebSocketPage();
    open(page);
    page.await("\"apart\":1,");
    release.countDown();
    page.await("\"apart\":0,");
  }

  // ---- what costs nothing ----

  @Test
  void nothingIsCollectedWhileNoPageIsOpen() throws Exception {
    assertThat(hasLanes()).isFalse();
    WebSocketPage page = new WebSocketPage();
    WebSocket socket = open(page);
    page.await("\"type\":\"tick\"");
    assertThat(hasLanes()).isTrue();
    socket.sendText("pause", true).join();
    eventually(() -> !hasLanes());
    socket.sendText("go", true).join();
    eventually(this::hasLanes);
    WebSocketPage second = new WebSocketPage();
    WebSocket other = open(second);
    second.await("\"type\":\"tick\"");
    socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
    page.closed().join();
    second.clear();
    second.await("\"type\":\"tick\"");
    assertThat(hasLanes()).isTrue();
    other.abort();
    eventually(() -> !hasLanes());
  }

  @Test
  void theConsoleAnswersAlthoughAllThreadsOfTheProgramAreHeld() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    for (int i = 0; i < 2; i++) {
      scheduler.go(
          FiberOptions.named("hog-" + i).onThread(i),
          () -> {
            while (release.getCount() > 0) {
              Thread.onSpinWait();
            }
          });
    }
    WebSocketPage page = new WebSocketPage();
    open(page);
    page.await("\"held\":true");
    release.countDown();
  }

  @Test
  void closingTheConsoleEndsItsPages() throws Exception {
    WebSocketPage page = new WebSocketPage();
    open(page);
    page.await("\"type\":\"tick\"");
    console.close();
    assertThat(page.closed().get(10, TimeUnit.SECONDS)).startsWith("1001");
    eventually(() -> !hasLanes());
    assertThatThrownBy(() -> get(console.url())).isInstanceOf(IOException.class);
  }
}
