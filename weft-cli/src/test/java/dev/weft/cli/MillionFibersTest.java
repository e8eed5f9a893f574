package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import dev.weft.testkit.WebSocketPage;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/** Looks into a process with a million fibers: a page in seconds, in bounded memory. */
@Timeout(120)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MillionFibersTest {
  private static final long MOST_GROWTH = 48 << 20;
  private static final Pattern CONSOLE = Pattern.compile("weft: console at (\\S+)");

  private static Process process;
  private static BufferedReader answers;
  private static String pid;
  private static String needle;
  private static URI console;

  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void start() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run(); // builds it
    process = Command.java(Million.flags()).startWithErrors();
    pid = "" + process.pid();
    BufferedReader errors = process.errorReader();
    Matcher url = CONSOLE.matcher("");
    while (!url.find()) {
      String line = errors.readLine();
      assertThat(line).as("the address of the console").isNotNull();
      url.reset(line);
    }
    console = URI.create(url.group(1).replaceFirst("^http", "ws") + "live");
    Thread.ofVirtual().start(() -> errors.lines().forEach(System.out::println));
    answers = process.inputReader();
    needle = answer("needle (\\d+)").group(1);
  }

  @AfterAll
  static void end() {
    if (process != null) {
      process.destroyForcibly();
    }
  }

  private static Matcher answer(String pattern) throws IOException {
    String line = String.valueOf(answers.readLine());
    Matcher matcher = Pattern.compile(pattern).matcher(line);
    assertThat(matcher.matches()).as(line).isTrue();
    return matcher;
  }

  private static Matcher ask(String question, String pattern) throws IOException {
    process.outputWriter().append(question).append('\n').flush();
    return answer(pattern);
  }

  private static long millisSince(long begin) {
    return (System.nanoTime() - begin) / 1_000_000;
  }

  @Test
  @Feature({"O1", "O2"})
  void aDumpIsAPageWithinTenSecondsAndItsMemoryIsBounded() throws Exception {
    assertThat(dump())
        .contains("scheduler many: 1,000,000 fibers on 2 threads: ")
        .doesNotContain("standstill");
  }

  /** The watchdog asks each second whether it is a deadlock. */
  @Test
  @Order(Integer.MAX_VALUE) // the heart does not beat again
  @Feature({"O1", "O2"})
  void aDumpOfAMillionThatStandStillIsNoSlower() throws Exception {
    ask("still", "still");
    assertThat(dump()).contains("scheduler many: 999,999 fibers on 2 threads: ");
  }

  /** Returns a dump, which has to be a page within ten seconds, in bounded memory. */
  private static String dump() throws Exception {
    long used = Long.parseLong(ask("watch", "used (\\d+)").group(1));
    long begin = System.nanoTime();
    Command.Result dump = Script.weft("dump", pid).run();
    long took = millisSince(begin);
    Matcher most = ask("most", "most (\\d+) of (\\d+)");
    assertThat(dump.stderr()).isEmpty();
    assertThat(dump.stdout())
        .containsPattern("333,33\\d fibers wait for a value from channel")
        .contains("dev.weft.cli.Million.receive");
    assertThat(dump.stdout().lines().count()).as("a page").isLessThan(60);
    long growth = Long.parseLong(most.group(1)) - used;
    System.out.printf(
        "./weft dump of 1,000,000 fibers: %d ms; the heap grew by %d KB at most, by %s collections%n",
        took, growth / 1_024, most.group(2));
    assertThat(took).as("milliseconds").isLessThan(10_000);
    assertThat(Integer.parseInt(most.group(2))).as("collections").isGreaterThan(2);
    assertThat(growth).as("bytes, most after a collection").isLessThan(MOST_GROWTH);
    return dump.stdout();
  }

  @Test
  @Feature("O1")
  void topAnswersAtOnceButForARareWalk() throws Exception {
    long begin = System.nanoTime();
    Command.Result once = Script.weft("top", pid, "--once").run();
    assertThat(once.stdout()).contains("scheduler many  1,000,000 fibers: ");
    assertThat(millisSince(begin)).as("milliseconds of --once").isLessThan(10_000);

    long[] took = new long[21];
    try (Attached attached = Attached.to(process.toHandle())) {
      for (int i = 0; i < took.length; i++) {
        long asked = System.nanoTime();
        assertThat(attached.ask("top cpu 50")).contains("\nfiber\t");
        took[i] = millisSince(asked);
      }
    }
    System.out.println("top of 1,000,000 fibers answers in " + Arrays.toString(took) + " ms");
    Arrays.sort(took);
    assertThat(took[took.length / 2]).as("median of milliseconds").isLessThan(100);
    assertThat(took[took.length - 1]).as("most milliseconds").isLessThan(5_000);
  }

  private static String await(WebSocketPage page, String type, int seconds)
      throws InterruptedException {
    return page.await(seconds, message -> message.startsWith("{\"type\":\"" + type + "\""));
  }

  @Test
  @Feature("O3")
  void theConsoleTicksEachSecondAndFindsAFiber() throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      WebSocketPage page = new WebSocketPage();
      WebSocket socket = client.newWebSocketBuilder().buildAsync(console, page).join();
      assertThat(await(page, "tick", 10)).contains("\"waiting\":999999,");
      long begin = System.nanoTime();
      socket.sendText("look fibers needle", true).join();
      assertThat(await(page, "fibers", 60)).contains("\"name\":\"needle\"", "\"more\":false");
      long found = millisSince(begin);
      begin = System.nanoTime();
      socket.sendText("stack " + needle, true).join();
      assertThat(await(page, "stack", 5)).contains("dev.weft.cli.Million.receive");
      long shown = millisSince(begin);
      begin = System.nanoTime();
      for (int i = 0; i < 5; i++) {
        await(page, "tick", 5);
      }
      System.out.printf(
          "the console finds a fiber of 1,000,000 in %d ms, shows its stack in %d ms, and ticks five times in %d ms%n",
          found, shown, millisSince(begin));
      assertThat(millisSince(begin)).as("milliseconds of five ticks").isLessThan(12_000);
      socket.abort();
      client.shutdownNow();
    }
  }
}
