package dev.weft.bench.run;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** The Go program of all Go contestants, built from its sources if Go is on this machine. */
public final class GoBuild {
  private static final String GO = "go";

  private GoBuild() {}

  /** Says whether the Go tool is on the {@code PATH}. */
  public static boolean isPossible() {
    return isPossible(path());
  }

  private static boolean isPossible(String path) {
    return Arrays.stream(path.split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, GO)));
  }

  private static String path() {
    return Objects.requireNonNullElse(System.getenv("PATH"), "");
  }

  /**
   * Builds the program; Go's own cache makes that quick if nothing has changed.
   *
   * @param root the repository
   * @throws Probe.Impossible if there is no Go, or the sources do not compile
   */
  public static Path program(Path root, PrintStream log)
      throws Probe.Impossible, InterruptedException {
    return program(root, path(), log);
  }

  static Path program(Path root, String path, PrintStream log)
      throws Probe.Impossible, InterruptedException {
    if (!isPossible(path)) {
      throw new Probe.Impossible("needs Go: run 'bin/servers install go' as root");
    }
    Path program = root.resolve("target/bench/go/bench");
    ProcessBuilder builder =
        new ProcessBuilder(List.of(GO, "build", "-o", program.toString(), "."))
            .directory(root.resolve("weft-bench/src/main/go").toFile())
            .redirectErrorStream(true);
    builder.environment().put("GOTOOLCHAIN", "local"); // it would download another one
    try {
      Process go = builder.start();
      String said = new String(go.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      log.print(said);
      if (go.waitFor() != 0) {
        throw new Probe.Impossible("the Go program does not build: see the log");
      }
      return program;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run go", e);
    }
  }
}
