package dev.weft.bench.run;

import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A fresh process with a probe in it, and the talk with it. {@link ProbeMain} is the other side in
 * a JVM, {@code main.go} in a Go program.
 */
final class ProbeProcess implements AutoCloseable {
  private static final int LIMIT_SECONDS = 300;

  /** The exit status of a JVM under {@code -XX:+ExitOnOutOfMemoryError}. */
  private static final int OUT_OF_MEMORY = 3;

  private final Process process;
  private final BufferedReader output;
  private final PrintStream log;

  private ProbeProcess(Process process, PrintStream log) {
    this.process = process;
    this.log = log;
    output = process.inputReader();
  }

  /** Starts a JVM; the first answer is on its way. */
  static ProbeProcess start(Class<?> probe, List<String> flags, Trial trial) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(trial.measured().jvmFlags());
    command.add("-XX:+ExitOnOutOfMemoryError");
    command.addAll(flags);
    command.addAll(List.of("-cp", trial.measured().classPath()));
    command.add(ProbeMain.class.getName());
    command.addAll(List.of(probe.getName(), trial.value(), String.valueOf(trial.pace().quick())));
    return start(command, Map.of(), trial);
  }

  /** Starts a program; the first answer is on its way. */
  static ProbeProcess start(List<String> command, Map<String, String> variables, Trial trial) {
    trial.log().println("# " + String.join(" ", command));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(variables);
    try {
      return new ProbeProcess(builder.start(), trial.log());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start " + command.getFirst(), e);
    }
  }

  /** Waits until the process is ready, and returns the session of its windows. */
  InTurns.Session session() throws InterruptedException {
    return new Waiting(this, answer());
  }

  /** A process that waits for its next window, or has said at once why there cannot be one. */
  private record Waiting(ProbeProcess process, Outcome ready) implements InTurns.Session {
    @Override
    public Outcome window() throws InterruptedException {
      if (ready instanceof Outcome.Failure) {
        return ready;
      }
      process.askForWindow();
      return process.answer();
    }

    @Override
    public void close() {
      process.close();
    }
  }

  /** Asks for one more window; the answer follows. */
  private void askForWindow() {
    try {
      process.outputWriter().write(ProbeMain.WINDOW + "\n");
      process.outputWriter().flush();
    } catch (IOException e) {
      log.println("# it has ended: " + e.getMessage()); // the answer will say so, too
    }
  }

  /** Waits for an answer: numbers, none if the process says that it is ready, or a failure. */
  Outcome answer() throws InterruptedException {
    long started = System.nanoTime();
    CompletableFuture<Void> limit =
        CompletableFuture.runAsync(
            process::destroyForcibly,
            CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS));
    try {
      return read(started);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read what the measured process says", e);
    } finally {
      limit.cancel(false);
    }
  }

  private Outcome read(long started) throws IOException, InterruptedException {
    Map<String, List<Double>> readings = new HashMap<>();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      log.println(line);
      if (line.startsWith(ProbeMain.READING)) {
        int equals = line.lastIndexOf('=');
        readings.put(
            line.substring(ProbeMain.READING.length(), equals),
            List.of(Double.valueOf(line.substring(equals + 1))));
      } else if (line.startsWith(ProbeMain.IMPOSSIBLE)) {
        return new Outcome.Failure(line.substring(ProbeMain.IMPOSSIBLE.length()));
      } else if (line.equals(ProbeMain.DONE)) {
        return new Outcome.Readings(readings);
      }
    }
    int status = process.waitFor();
    if (status == OUT_OF_MEMORY) {
      return new Outcome.Failure("OutOfMemoryError");
    }
    return System.nanoTime() - started >= TimeUnit.SECONDS.toNanos(LIMIT_SECONDS)
        ? new Outcome.Failure("no result in " + LIMIT_SECONDS + " s")
        : new Outcome.Failure("no result, exit status " + status);
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
