package dev.weft.bench;

import dev.weft.bench.model.Comparison;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Runs {@code ./weft bench} in this JVM and keeps what it prints. */
final class BenchRun {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  /** Returns the exit status. */
  int bench(Path root, List<Comparison> suite, String... args) throws InterruptedException {
    return new Bench(suite, new Workspace(root), print(out), print(err)).run(args);
  }

  private static PrintStream print(ByteArrayOutputStream to) {
    return new PrintStream(to, true, StandardCharsets.UTF_8);
  }

  String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  String err() {
    return err.toString(StandardCharsets.UTF_8);
  }

  void forgetErrors() {
    err.reset();
  }
}
