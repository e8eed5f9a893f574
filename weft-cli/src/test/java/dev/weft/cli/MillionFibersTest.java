package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.Arrays;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Looks into a process with a million fibers. */
@Timeout(120)
class MillionFibersTest {
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
  void aDumpIsAPage() throws Exception {
    long used = Long.parseLong(ask("watch", "used (\\d+)").group(1));
    long begin = System.nanoTime();
    Command.Result dump = Script.weft("dump", pid).run();
    long took = millisSince(begin);
    Matcher most = ask("most", "most (\\d+) of (\\d+)");
    assertThat(dump.stderr()).isEmpty();
    assertThat(dump.stdout())
        .contains("scheduler many: 1,000,000 fibers on 2 threads: ")
        .containsPattern("333,33\\d fibers wait for a value from channel")
        .contains("dev.weft.cli.Million.receive");
    assertThat(dump.stdout().lines().count()).as("a page").isLessThan(60);
    long growth = Long.parseLong(most.group(1)) - used;
    System.out.printf(
        "./weft dump of 1,000,000 fibers: %d ms; the heap grew by %d KB at most, by %s collections%n",
        took, growth / 1_024, most.group(2));
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

  /** A page of the console. */
  private static final class Page implements WebSocket.Listener {
    private final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private final StringBuilder part = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean last) {
      part.append(text);
      if (last) {
        messages.add(part.toString());
        part.setLength(0);
      }
      socket.request(1);
      return null;
    }

    /** Returns the next message of a type. */
    String await(String type, int seconds) throws InterruptedException {
      long begin = System.nanoTime();
      while (true) {
        String message = messages.poll(1, TimeUnit.SECONDS);
        if (message != null && message.startsWith("{\"type\":\"" + type + "\"")) {
          return message;
        }
        assertThat(millisSince(begin))
            .as("milliseconds without a message " + type)
            .isLessThan(seconds * 1_000L);
      }
    }
  }

  @Test
  @Feature("O3")
  void theConsoleTicksEachSecondAndFindsAFiber() throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      Page page = new Page();
      WebSocket socket = client.newWebSocketBuilder().buildAsync(console, page).join();
      assertThat(page.await("tick", 10)).contains("\"waiting\":999999,");
      long begin = System.nanoTime();
      socket.sendText("look fibers needle", true).join();
      assertThat(page.await("fibers", 60)).contains("\"name\":\"needle\"", "\"more\":false");
      long found = millisSince(begin);
      begin = System.nanoTime();
      socket.sendText("stack " + needle, true).join();
      assertThat(page.await("stack", 5)).contains("dev.weft.cli.Million.receive");
      long shown = millisSince(begin);
      begin = System.nanoTime();
      for (int i = 0; i < 5; i++) {
        page.await("tick", 5);
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
