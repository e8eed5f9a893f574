package dev.weft.bench.against;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A program that has run to its end: its exit status, and what it printed on both streams. */
record Command(int status, String output) {
  static Command run(Path folder, List<String> words) throws IOException, InterruptedException {
    return run(folder, Map.of(), words);
  }

  /** Runs it in a folder, with these variables besides those of this process. */
  static Command run(Path folder, Map<String, String> variables, List<String> words)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().putAll(variables);
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Command(process.waitFor(), output);
    } finally {
      process.destroy(); // if this thread was interrupted
    }
  }

  boolean succeeded() {
    return status == 0;
  }

  /** Returns its output without the end of the last line. */
  String text() {
    return output.strip();
  }
}
