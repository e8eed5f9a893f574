package dev.weft.bench.run;

import dev.weft.bench.model.Measurement;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs a {@link Probe} in a fresh JVM with flags of its own. */
public record ForkedProbe(Class<? extends Probe> probe, List<String> flags) implements Measurement {
  private static final int LIMIT_SECONDS = 300;

  /** The exit status of a JVM under {@code -XX:+ExitOnOutOfMemoryError}. */
  private static final int OUT_OF_MEMORY = 3;

  public ForkedProbe {
    flags = List.copyOf(flags);
  }

  /** Runs the probe with these JVM flags in addition to those that Weft needs. */
  public static ForkedProbe of(Class<? extends Probe> probe, String... flags) {
    return new ForkedProbe(probe, List.of(flags));
  }

  @Override
  public Outcome measure(Trial trial) throws InterruptedException {
    List<String> command = command(trial);
    trial.log().println("# " + String.join(" ", command));
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      CompletableFuture<Void> limit =
          CompletableFuture.runAsync(
              process::destroyForcibly,
              CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS));
      try {
        return outcome(process, trial);
      } finally {
        // no longer waiting means that the limit has struck
        limit.cancel(false);
        process.destroyForcibly();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start " + command.getFirst(), e);
    }
  }

  private List<String> command(Trial trial) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(trial.jvmFlags());
    command.add("-XX:+ExitOnOutOfMemoryError");
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(ProbeMain.class.getName());
    command.addAll(List.of(probe.getName(), trial.value(), String.valueOf(trial.pace().quick())));
    return command;
  }

  private static Outcome outcome(Process process, Trial trial)
      throws IOException, InterruptedException {
    long started = System.nanoTime();
    Map<String, List<Double>> readings = new HashMap<>();
    String impossible = "";
    for (String line : (Iterable<String>) process.inputReader().lines()::iterator) {
      trial.log().println(line);
      if (line.startsWith(ProbeMain.READING)) {
        int equals = line.lastIndexOf('=');
        readings.put(
            line.substring(ProbeMain.READING.length(), equals),
            List.of(Double.valueOf(line.substring(equals + 1))));
      } else if (line.startsWith(ProbeMain.IMPOSSIBLE)) {
        impossible = line.substring(ProbeMain.IMPOSSIBLE.length());
      }
    }
    int status = process.waitFor();
    if (status == 0 && !readings.isEmpty()) {
      return new Outcome.Readings(readings);
    }
    if (!impossible.isEmpty()) {
      return new Outcome.Failure(impossible);
    }
    if (status == OUT_OF_MEMORY) {
      return new Outcome.Failure("OutOfMemoryError");
    }
    return System.nanoTime() - started >= TimeUnit.SECONDS.toNanos(LIMIT_SECONDS)
        ? new Outcome.Failure("no result in " + LIMIT_SECONDS + " s")
        : new Outcome.Failure("no result, exit status " + status);
  }
}
