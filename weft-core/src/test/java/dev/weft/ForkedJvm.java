package dev.weft;

import dev.weft.testkit.FaultGuard;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs a main class in a separate JVM, with the flags of a test. */
public final class ForkedJvm {
  public record Result(int exitStatus, String output) {}

  private static final int LIMIT_SECONDS = 50;

  private ForkedJvm() {}

  /**
   * Runs {@code java <arguments>} to its end; returns standard output and error as one text.
   *
   * @throws AssertionError if Weft has noticed a fault of its own there
   */
  public static Result java(String... arguments) throws IOException, InterruptedException {
    return javaOf(Path.of(System.getProperty("java.home")), arguments);
  }

  /** Runs the {@code java} of another JDK or image. */
  public static Result javaOf(Path home, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(home.resolve("bin/java").toString());
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    CompletableFuture<String> output =
        CompletableFuture.supplyAsync(() -> outputOf(process), Thread.ofPlatform().daemon()::start);
    boolean ended = false;
    try {
      ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
    } finally {
      if (!ended) { // else it would close the output, which may not have been read yet
        process.destroyForcibly();
      }
    }
    if (!ended) {
      throw new AssertionError(
          "still running after " + LIMIT_SECONDS + " s: " + command + "\n" + output.join());
    }
    FaultGuard.checkOutput(output.join());
    return new Result(process.exitValue(), output.join());
  }

  private static String outputOf(Process process) {
    try {
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the argument with the flags that Weft needs. */
  public static String weftArgs() {
    return "@" + Path.of(System.getProperty("weft.root"), "weft.args");
  }

  /** Returns the class path entries that contain the given classes. */
  public static String classPathOf(Class<?>... classes) {
    List<String> entries = new ArrayList<>();
    for (Class<?> type : classes) {
      entries.add(locationOf(type));
    }
    return String.join(File.pathSeparator, entries);
  }

  private static String locationOf(Class<?> type) {
    return Path.of(
            java.net.URI.create(
                type.getProtectionDomain().getCodeSource().getLocation().toString()))
        .toString();
  }
}
