package dev.weft.stress;

import dev.weft.stress.sim.Repeats;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

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
    for (int i = 0; i < JVMS; i += 2) {
      Process quiet = start(runs / JVMS, "quiet");
      Process loaded = start(runs / JVMS, "load");
      for (Process process : List.of(quiet, loaded)) {
        List<String> lines = lines(process);
        if (expected.isEmpty()) {
          expected = lines;
        } else if (!expected.equals(lines)) {
          throw new AssertionError(difference(expected, lines));
        }
        progress.at(runs / JVMS * (i + 1));
      }
    }
    return expected.stream().mapToLong(line -> line.split(" ", -1).length - 1L).sum();
  }

  private static Process start(long runs, String load) throws IOException {
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
            load));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private static List<String> lines(Process process) throws IOException, InterruptedException {
    String output;
    try (var in = process.getInputStream()) {
      output = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    int status = process.waitFor();
    if (status != 0) {
      throw new AssertionError("a JVM has ended with status " + status + ": " + output);
    }
    return output.lines().toList();
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
