package dev.weft.stress;

import dev.weft.stress.sim.Repeats;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Repeats simulated runs in several JVMs, half of them under load: no run differs from another run
 * of its seed.
 */
final class RepeatStress {
  private static final int JVMS = 4;

  private RepeatStress() {}

  /** Makes so many runs, in two JVMs at a time; returns how many seeds of programs agree. */
  static long run(long runs, long seed, Progress progress) throws Exception {
    List<String> expected = List.of();
    AtomicLong programs = new AtomicLong();
    Runnable afterProgram =
        () ->
            progress.at(programs.incrementAndGet() * runs / ((long) JVMS * Repeats.programCount()));
    for (int i = 0; i < JVMS; i += 2) {
      List<ProcessBuilder> pair =
          List.of(jvm(runs / JVMS, seed, "quiet"), jvm(runs / JVMS, seed, "load"));
      for (List<String> lines : outputs(pair, afterProgram)) {
        if (expected.isEmpty()) {
          expected = lines;
        } else if (!expected.equals(lines)) {
          throw new AssertionError(difference(expected, lines));
        }
      }
    }
    return expected.stream().mapToLong(line -> line.split(" ", -1).length - 1L).sum();
  }

  /**
   * Runs processes at the same time; returns the lines that each prints. If one fails, the others
   * are ended too.
   *
   * @param afterLine called after each line of any process
   */
  static List<List<String>> outputs(List<ProcessBuilder> commands, Runnable afterLine)
      throws IOException, InterruptedException {
    List<Process> processes = new ArrayList<>();
    try {
      for (ProcessBuilder command : commands) {
        processes.add(command.start());
      }
      List<List<String>> outputs = new ArrayList<>();
      for (Process process : processes) {
        outputs.add(lines(process, afterLine));
      }
      return outputs;
    } finally {
      processes.forEach(Process::destroyForcibly);
    }
  }

  private static ProcessBuilder jvm(long runs, long seed, String load) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(
        List.of(
            "-XX:-PrintWarnings",
            "-cp",
            System.getProperty("java.class.path"),
            Repeats.class.getName(),
            Long.toString(runs),
            Long.toString(Math.floorMod(seed, 1L << 40)),
            load));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
  }

  private static List<String> lines(Process process, Runnable afterLine)
      throws IOException, InterruptedException {
    List<String> lines = new ArrayList<>();
    try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        lines.add(line);
        afterLine.run();
      }
    }
    int status = process.waitFor();
    if (status != 0) {
      throw new AssertionError(
          "a JVM has ended with status " + status + ": " + String.join("\n", lines));
    }
    return lines;
  }

  private static String difference(List<String> one, List<String> other) {
    for (int i = 0; i < Math.min(one.size(), other.size()); i++) {
      if (!one.get(i).equals(other.get(i))) {
        return "JVMs differ:\n  " + one.get(i) + "\n  " + other.get(i);
      }
    }
    return "JVMs differ: " + one.size() + " lines and " + other.size();
  }
}
