package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import dev.weft.testkit.TestServer;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The illnesses of {@code docs/operating.md}: {@code examples/Sick.java} has each of them, one
 * command finds it, and the page shows what the command prints, but for the numbers. {@code
 * -Dweft.docs.write=true} writes the outputs anew.
 */
@Feature({"O1", "O2"})
@Timeout(60)
class OperatingPageTest {
  private static final int COLUMNS = 130;
  private static final int ROWS = 24;
  private static final Path PAGE = Script.ROOT.resolve("docs/operating.md");

  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
  }

  /** The output of a command in the page: after a comment with the illness and the command. */
  private static Matcher output(String page, String illness) {
    Matcher block =
        Pattern.compile("(<!-- Sick.java " + illness + " -->\n```\n)(.*?)(```\n)", Pattern.DOTALL)
            .matcher(page);
    assertThat(block.find()).as("%s has no output of %s", PAGE, illness).isTrue();
    return block;
  }

  /** The lines of an output without numbers, in no order, each once. */
  private static List<String> shape(String output) {
    return output
        .lines()
        .map(line -> line.replaceAll("mutex [0-9a-f]+", "mutex"))
        .map(line -> line.replaceAll("[0-9][0-9,.]*", "0"))
        .map(line -> line.replaceAll("0 m?s\\b", "0 s").replaceAll(" +", " "))
        .distinct()
        .sorted()
        .toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "stuck   | dump          | wanted: 20 fibers wait for the lock of mutex",
        "cycle   | dump          | deadlock: 2 fibers wait for each other",
        "leak    | leaks         | 30 leaked fibers",
        "hog     | dump          | held thread: fiber 2 (report) has run on thread",
        "slow    | dump          | 40 fibers wait for",
        "helpers | dump          | 64 fibers in a blocking call",
        "sockets | top --once    | sockets 60",
      })
  void aSingleCommandFindsTheIllness(String illness, String command, String sign) throws Exception {
    Process process =
        Script.weft("run", "examples/Sick.java", illness).in(Script.ROOT).startWithErrors();
    try (BufferedReader out = process.inputReader()) {
      Thread.ofVirtual().start(() -> process.errorReader().lines().forEach(line -> {}));
      assertThat(out.readLine()).isEqualTo("process " + process.pid());
      String page = Files.readString(PAGE);
      String found = ask(process, command);
      long begin = System.nanoTime();
      while (!found.contains(sign)
          || (!shape(found).equals(shape(output(page, illness).group(2))) && !isWritten())) {
        assertThat(System.nanoTime() - begin)
            .as("./weft %s says\n%s\nand %s another thing", command, found, PAGE)
            .isLessThan(TimeUnit.SECONDS.toNanos(20));
        found = ask(process, command);
      }
      if (isWritten()) {
        String written = Matcher.quoteReplacement(found.replaceAll("process \\d+", "process 4711"));
        Files.writeString(PAGE, output(page, illness).replaceFirst("$1" + written + "$3"));
      }
    } finally {
      process.destroyForcibly();
    }
  }

  /** The first row of what fibers waited for, in the page of {@code ./weft report}. */
  private static final Pattern MOST_WAITED =
      Pattern.compile(
          "<h2>What fibers waited for</h2>.*?<summary>(.*?) <span class=\"soft\">(.*?)</span>.*?"
              + "<td class=\"n\">(.*?)</td><td class=\"n\">(.*?)</td><td class=\"n\">(.*?)</td>"
              + "<td class=\"f\">(.*?)</td>",
          Pattern.DOTALL);

  @Test
  void aRecordingTellsWhatWasSlow(@TempDir Path folder) throws Exception {
    Path recording = folder.resolve("night.jfr");
    Process process =
        Script.weft("run", "examples/Sick.java", "spell")
            .in(Script.ROOT)
            .with(
                "JDK_JAVA_OPTIONS",
                "-XX:StartFlightRecording:settings=" + Script.ROOT.resolve("weft.jfc"))
            .startWithErrors();
    try (BufferedReader out = process.inputReader()) {
      Thread.ofVirtual().start(() -> process.errorReader().lines().forEach(line -> {}));
      String line = out.readLine();
      while (!line.equals("process " + process.pid())) { // the JVM speaks of its recording
        line = out.readLine();
      }
      String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
      Command.Result dumped =
          Command.of(jcmd, "" + process.pid(), "JFR.dump", "filename=" + recording, "begin=-8h")
              .run();
      assertThat(dumped.exitStatus()).as(dumped.stdout()).isZero();
    } finally {
      process.destroyForcibly();
    }
    Command.Result made = Script.weft("report", recording.toString()).run();
    assertThat(made.stderr()).isEmpty();
    String html = Files.readString(Path.of(made.stdout().strip()));
    assertThat(html).as("what held the lock").contains("Sick.backUp", "backup");
    Matcher row = MOST_WAITED.matcher(html);
    assertThat(row.find()).isTrue();
    String found =
        "waited for: %s, %s\n  %s waits, %s in all, the longest %s; fibers: %s\n"
            .formatted(
                row.group(1), row.group(2), row.group(3), row.group(4), row.group(5), row.group(6));
    String page = Files.readString(PAGE);
    if (isWritten()) {
      String written = Matcher.quoteReplacement(found);
      Files.writeString(PAGE, output(page, "spell").replaceFirst("$1" + written + "$3"));
    } else {
      assertThat(shape(found)).isEqualTo(shape(output(page, "spell").group(2)));
      assertThat(row.group(3)).as("waits").isEqualTo("20");
    }
  }

  /** The pictures of the screen of {@code ./weft top} in the page. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "hog     | 1?[09][0-9]% +- +[0-9] +report",
        "helpers | helpers 64 of 64, 36 calls wait",
      })
  void theScreenShowsTheIllness(String illness, String sign) throws Exception {
    Process process =
        Script.weft("run", "examples/Sick.java", illness).in(Script.ROOT).startWithErrors();
    try (BufferedReader out = process.inputReader();
        TestServer tmux = TestServer.start("tmux")) {
      Thread.ofVirtual().start(() -> process.errorReader().lines().forEach(line -> {}));
      assertThat(out.readLine()).isEqualTo("process " + process.pid());
      TopScreen screen = TopScreen.of(tmux, process.pid(), COLUMNS, ROWS);
      Pattern shown = Pattern.compile(sign);
      screen.await(
          sign + " and rates",
          lines ->
              lines.stream().anyMatch(line -> shown.matcher(line).find())
                  && lines.stream().noneMatch(line -> line.matches(".* \\?(/s| %) .*")));
      String svg = screen.svg(COLUMNS).replaceFirst("process \\d+", "process 4711");
      assertThat(svg).contains("scheduler service").contains("fill=\"#10131a\">c CPU");
      if (isWritten()) {
        Files.writeString(Script.ROOT.resolve("docs/img/top-" + illness + ".svg"), svg);
      }
    } finally {
      process.destroyForcibly();
    }
  }

  private static boolean isWritten() {
    return Boolean.getBoolean("weft.docs.write");
  }

  private static String ask(Process process, String command) throws Exception {
    String[] words = (command + " " + process.pid()).split(" ", -1);
    Command.Result result = Script.weft(words).run();
    assertThat(result.stderr()).isEmpty();
    assertThat(result.exitStatus()).isZero();
    return result.stdout();
  }
}
