package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import dev.weft.testkit.TestServer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code ./weft top} on a terminal: that of tmux. */
@Feature("O1")
@Timeout(60)
class TopTest {
  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
  }

  private static int firstFiber(List<String> lines) {
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).startsWith("  FIBER ")) {
        return i + 1;
      }
    }
    return lines.size();
  }

  private static boolean isFirst(List<String> lines, String fiber) {
    int row = firstFiber(lines);
    return row < lines.size() && lines.get(row).contains(fiber);
  }

  @Test
  void theScreenIsLiveAndObeysKeys() throws Exception {
    Process victim = Victim.start();
    try (TestServer tmux = TestServer.start("tmux")) {
      TopScreen screen = TopScreen.of(tmux, victim.pid(), 140, 30);
      List<String> lines = screen.await("hottest fiber", found -> isFirst(found, " burner "));
      assertThat(lines)
          .anyMatch(line -> line.startsWith("process " + victim.pid() + "  CPU "))
          .anyMatch(line -> line.startsWith("scheduler victim  11 fibers: "))
          .anyMatch(line -> line.matches(" +0 +\\d+% .*"));
      assertThat(lines.getLast()).startsWith("c CPU  w longest wait");

      screen.press("w");
      lines = screen.await("longest wait", found -> isFirst(found, " receiver "));
      assertThat(lines).anyMatch(line -> line.contains("(by wait)"));
      String second = lines.get(firstFiber(lines) + 1).strip().split(" ", 2)[0];

      screen.press("Down", "Enter");
      lines =
          screen.await(
              "stack of fiber " + second,
              found -> found.getFirst().startsWith("fiber " + second + " (receiver) WAITING"));
      assertThat(lines).anyMatch(line -> line.startsWith("    at dev.weft.cli.Victim."));
      assertThat(lines.getLast()).isEqualTo("any key: back");

      screen.press("x", "n");
      screen.await("newest fiber", found -> isFirst(found, "     11 "));
      screen.press("o");
      screen.await("oldest fiber", found -> isFirst(found, "      1 "));
      screen.press("q");
      screen.await("end", found -> found.contains("status 0"));
    } finally {
      victim.destroyForcibly();
    }
  }

  @Test
  void theScreenObeysWhileTheProcessIsStopped() throws Exception {
    Process victim = Victim.start();
    try (TestServer tmux = TestServer.start("tmux")) {
      TopScreen screen = TopScreen.of(tmux, victim.pid(), 140, 30);
      screen.await("hottest fiber", found -> isFirst(found, " burner "));
      assertThat(screen.showsCursor()).isFalse();
      Command.of("kill", "-STOP", "" + victim.pid()).run();
      String silent = "process %d has not answered for ".formatted(victim.pid());
      screen.await(
          "silence",
          found -> found.getLast().startsWith(silent) && found.getLast().contains("it is stopped"));
      Command.of("kill", "-CONT", "" + victim.pid()).run();
      screen.await("help", found -> found.getLast().startsWith("c CPU"));
      Command.of("kill", "-STOP", "" + victim.pid()).run();
      screen.await("silence", found -> found.getLast().startsWith(silent));
      screen.press("C-z", "q"); // the first is no key of the screen, and no signal
      screen.await("end", found -> found.contains("status 0"));
      assertThat(screen.showsCursor()).isTrue();
    } finally {
      victim.destroyForcibly();
    }
  }

  @Test
  void controlCEndsTheScreenAndRestoresTheTerminal() throws Exception {
    Process victim = Victim.start();
    try (TestServer tmux = TestServer.start("tmux")) {
      TopScreen screen = TopScreen.of(tmux, victim.pid(), 140, 30);
      screen.await("hottest fiber", found -> isFirst(found, " burner "));
      screen.press("C-c");
      screen.await("end", found -> found.contains("status 0"));
      assertThat(screen.showsCursor()).isTrue();
    } finally {
      victim.destroyForcibly();
    }
  }

  @Test
  void aSmallTerminalStillShowsFibers() throws Exception {
    Process victim = Victim.start();
    try (TestServer tmux = TestServer.start("tmux")) {
      TopScreen screen = TopScreen.of(tmux, victim.pid(), 140, 30);
      screen.await("hottest fiber", found -> isFirst(found, " burner "));
      screen.tmux("resize-window", "-x", "80", "-y", "9");
      List<String> lines =
          screen.await("small page", found -> found.size() == 9 && isFirst(found, " burner  "));
      assertThat(lines.get(1)).startsWith("scheduler victim  11 fibers: ");
      assertThat(lines).allMatch(line -> line.length() < 80);
      assertThat(lines.getLast()).startsWith("c CPU");
    } finally {
      victim.destroyForcibly();
    }
  }

  @Test
  void theEndOfTheProcessEndsTheScreen() throws Exception {
    Process victim = Victim.start();
    try (TestServer tmux = TestServer.start("tmux")) {
      TopScreen screen = TopScreen.of(tmux, victim.pid(), 140, 30);
      screen.await("hottest fiber", found -> isFirst(found, " burner "));
      victim.destroyForcibly();
      List<String> lines = screen.await("end", found -> found.contains("status 1"));
      assertThat(lines).contains("weft: process " + victim.pid() + " has ended");
    } finally {
      victim.destroyForcibly();
    }
  }
}
