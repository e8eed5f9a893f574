package dev.weft.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A command that a test runs as a separate process. */
public final class Command {
  /** The result of a command. */
  public record Result(int exitStatus, String stdout, String stderr) {}

  private final ProcessBuilder builder;
  private String stdin = "";

  private Command(List<String> words) {
    builder = new ProcessBuilder(words);
  }

  /** Names a program and its arguments. */
  public static Command of(String... words) {
    return new Command(List.of(words));
  }

  /** Names arguments for a JVM like this one, on the class path of this test. */
  public static Command java(String... arguments) {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(List.of("-cp", System.getProperty("java.class.path")));
    words.addAll(List.of(arguments));
    return new Command(words);
  }

  /** Sets the folder to run in. */
  public Command in(Path folder) {
    builder.directory(folder.toFile());
    return this;
  }

  /** Sets a variable of the command's environment. */
  public Command with(String variable, String value) {
    builder.environment().put(variable, value);
    return this;
  }

  /** Removes a variable from the command's environment. */
  public Command without(String variable) {
    builder.environment().remove(variable);
    return this;
  }

  /** Sets the standard input of the command; without this call it is empty. */
  public Command reading(String text) {
    stdin = text;
    return this;
  }

  /**
   * Starts the command with pipes for standard input and output; its errors go to this test's
   * standard error, and a fault of Weft's among them fails the test.
   */
  public Process start() throws IOException {
    Process process = builder.start();
    Thread.ofPlatform()
        .daemon()
        .name("errors of " + process.pid())
        .start(() -> copyErrors(process));
    return process;
  }

  private static void copyErrors(Process process) {
    try (BufferedReader errors = process.errorReader()) {
      String line = errors.readLine();
      while (line != null) {
        FaultGuard.noteLine(line);
        System.err.println(line);
        line = errors.readLine();
      }
    } catch (IOException e) {
      // the test has destroyed the process
    }
  }

  /** Starts the command with pipes for standard input, output and errors. */
  public Process startWithErrors() throws IOException {
    return builder.start();
  }

  /**
   * Runs the command to its end; if this thread is interrupted meanwhile, the process is killed.
   *
   * @throws AssertionError if Weft has noticed a fault of its own in the process
   */
  public Result run() throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("weft-command-");
    Path in = Files.writeString(folder.resolve("in"), stdin);
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    Process process =
        builder
            .redirectInput(in.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try {
      int exitStatus = process.waitFor();
      Result result = new Result(exitStatus, Files.readString(out), Files.readString(err));
      FaultGuard.checkOutput(result.stdout());
      FaultGuard.checkOutput(result.stderr());
      return result;
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      for (Path file : List.of(in, out, err, folder)) {
        Files.deleteIfExists(file);
      }
    }
  }
}
