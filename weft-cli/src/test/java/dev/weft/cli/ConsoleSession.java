package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Plays a session that a page shows: commands after a dollar sign, each with the lines that it
 * prints. It knows the commands {@code ./weft run FILE &}, {@code curl URL} and {@code kill %1}.
 */
final class ConsoleSession implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(40);

  private final Path folder;
  private @Nullable Process server;
  private @Nullable BufferedReader printed;

  ConsoleSession(Path folder) {
    this.folder = folder;
  }

  /** Runs the commands, and checks that each prints the lines below it. */
  void play(String session) throws Exception {
    List<String> lines = session.lines().toList();
    for (int i = 0; i < lines.size(); ) {
      String command = lines.get(i++);
      assertThat(command).startsWith("$ ");
      List<String> expected = new ArrayList<>();
      while (i < lines.size() && !lines.get(i).startsWith("$ ")) {
        expected.add(lines.get(i++));
      }
      assertThat(run(command.substring(2).split(" ", -1), expected.size()))
          .as(command)
          .isEqualTo(expected);
    }
  }

  private List<String> run(String[] words, int expected) throws Exception {
    return switch (words[0]) {
      case "./weft" -> start(words, expected);
      case "curl" -> get(words[1].replace("'", "")).lines().toList();
      case "kill" -> stop();
      default -> throw new AssertionError("a session cannot run " + words[0]);
    };
  }

  private List<String> start(String[] words, int expected) throws IOException {
    assertThat(words).endsWith("&").hasSize(4);
    server = Script.weft(words[1], words[2]).in(folder).start();
    // a read of its output cannot be interrupted: end the process, and so its output
    server
        .onExit()
        .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
        .exceptionally(late -> server.destroyForcibly());
    printed = server.inputReader();
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < expected; i++) {
      lines.add(String.valueOf(printed.readLine()));
    }
    return lines;
  }

  static String get(String address) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://" + address)).timeout(PATIENCE).build();
      return client.send(request, BodyHandlers.ofString()).body();
    }
  }

  /** Sends SIGTERM; returns what the process prints then. */
  private List<String> stop() throws IOException, InterruptedException {
    assertThat(server).isNotNull();
    server.toHandle().destroy(); // Process.destroy would close its output
    List<String> lines = printed.lines().toList();
    assertThat(server.waitFor()).isEqualTo(128 + 15);
    return lines;
  }

  @Override
  public void close() {
    if (server != null) {
      server.destroyForcibly();
    }
  }
}
