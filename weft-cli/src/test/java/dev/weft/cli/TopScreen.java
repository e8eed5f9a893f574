package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.TestServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/** A terminal of tmux in which {@code ./weft top} runs. */
record TopScreen(String socket) {
  String tmux(String... words) throws Exception {
    List<String> all = new ArrayList<>(List.of("tmux", "-S", socket));
    all.addAll(List.of(words));
    Command.Result result = Command.of(all.toArray(String[]::new)).run();
    assertThat(result.stderr()).isEmpty();
    return result.stdout();
  }

  /** Opens a terminal in which {@code ./weft top} looks into the process. */
  static TopScreen of(TestServer server, long pid, int columns, int rows) throws Exception {
    TopScreen screen = new TopScreen(server.url());
    String command =
        "JAVA_HOME='%s' XDG_CACHE_HOME='%s' '%s' top %d; echo status $?; sleep 60"
            .formatted(
                System.getProperty("java.home"), Script.CACHE, Script.ROOT.resolve("weft"), pid);
    screen.tmux("new-session", "-d", "-x", "" + columns, "-y", "" + rows, command);
    return screen;
  }

  boolean showsCursor() throws Exception {
    return tmux("display-message", "-p", "#{cursor_flag}").strip().equals("1");
  }

  void press(String... keys) throws Exception {
    for (String key : keys) {
      tmux("send-keys", key);
    }
  }

  /** Returns the lines of the screen as soon as they are as expected. */
  List<String> await(String what, Predicate<List<String>> condition) throws Exception {
    long begin = System.nanoTime();
    while (true) {
      List<String> lines = tmux("capture-pane", "-p").lines().toList();
      if (condition.test(lines)) {
        return lines;
      }
      if (System.nanoTime() - begin > TimeUnit.SECONDS.toNanos(20)) {
        throw new AssertionError("the screen has no " + what + ":\n" + String.join("\n", lines));
      }
      LockSupport.parkNanos(50_000_000);
    }
  }

  /** Returns the screen as a picture. */
  String svg(int columns) throws Exception {
    return TerminalSvg.of(tmux("capture-pane", "-e", "-p").lines().toList(), columns);
  }
}
