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

  /** Answers of the terminal, which JLine has asked about itself, may come at any time. */
  @Test
  void anAnswerOfTheTerminalThatComesLateIsNoKey() throws Exception {
    Process victim = Victim.start();
    try (TestServer tmux = TestServer.start("tmux")) {
      TopScreen screen = TopScreen.of(tmux, victim.pid(), 140, 30);
      screen.await("hottest fiber", found -> isFirst(found, " burner "));
      screen.press("w");
      screen.await("longest wait", found -> isFirst(found, " receiver "));
      screen.tmux("send-keys", "-l", "\u001b[?1;2c"); // its kind; c alone is a key
      screen.tmux("send-keys", "-l", "\u001b"); // where the cursor is: in two pieces
      screen.tmux("send-keys", "-l", "[1;3R");
      screen.press("Space");
      List<String> lines = screen.await("pause", found -> found.getLast().startsWith("paused "));
      assertThat(lines).anyMatch(line -> line.contains("(by wait)"));
      screen.press("Escape", "n");
      screen.await("newest fiber", found -> isFirst(found, "     11 "));
    } finally {
      victim.destroyForcibly();
    }
  }

  @Test
  void escapeLeavesAStack() throws Exception {
    Process victim = Victim.start();
    try (TestServer tmux = TestServer.start("tmux")) {
      TopScreen screen = TopScreen.of(tmux, victim.pid(), 140, 30);
      screen.await("hottest fiber", found -> isFirst(found, " burner "));
      screen.press("Enter");
      screen.await("stack", found -> found.getLast().equals("any key: back"));
      screen.press("Escape");
      screen.await("list", found -> isFirst(found, " burner "));
      screen.press("Enter");
      screen.await("stack", found -> found.getLast().equals("any key: back"));
      screen.press("Down", "o");
      screen.await("oldest fiber", found -> isFirst(found, "      1 "));
      screen.press("q");
      screen.await("end", found -> found.contains("status 0"));
    } finally {
      victim.destroyForcibly();
    }
  }

  @Test
  void aStackThatIsLongerThanTheScreenScrolls() throws Exception {
    Process victim = Victim.start();
    try (TestServer tmux = TestServer.start("tmux")) {
      TopScreen screen = TopScreen.of(tmux, victim.pid(), 140, 30);
      screen.await("hottest fiber", found -> isFirst(found, " burner "));
      screen.press("w");
      screen.await("longest wait", found -> isFirst(found, " receiver "));
      screen.press("Enter");
      List<String> stack =
          screen.await("stack", found -> found.getLast().equals("any key: back")).stream()
              .filter(line -> line.startsWith("fiber ") || line.startsWith("    at "))
              .toList();
      assertThat(stack).hasSizeGreaterThan(3);
      screen.tmux("resize-window", "-x", "140", "-y", "4");
      String last = "of " + stack.size() + "  ↑↓ PgUp PgDn scroll  any other key: back";
      screen.await("first lines", found -> found.getLast().equals("lines 1 to 3 " + last));
      screen.press("Down");
      screen.await(
          "second line",
          found ->
              found.getFirst().equals(stack.get(1)) && found.getLast().startsWith("lines 2 to 4 "));
      screen.press("End");
      screen.await("last line", found -> found.get(2).equals(stack.getLast()));
      screen.press("PPage", "Up", "Home");
      screen.await("first line", found -> found.getLast().startsWith("lines 1 to 3 "));
      screen.press("NPage");
      screen.await("next page", found -> !found.getFirst().startsWith("fiber "));
      screen.press("Escape");
      screen.await("list", found -> found.getLast().startsWith("c CPU"));
      screen.press("q");
      screen.await("end", found -> found.contains("status 0"));
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
