package dev.weft.bench.frameworks;

import dev.weft.bench.http.ServerPort;
import dev.weft.bench.run.Carriers;
import dev.weft.bench.run.CpuClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A program of a framework in a process of its own.
 *
 * @param pid its process
 * @param port where it serves
 */
record FrameworkProcess(long pid, int port) {
  /**
   * Runs a command and ends it when the input of this shell ends: the process that has started the
   * shell may be killed, and then runs no shutdown hook.
   */
  private static final String WITH_LIFELINE =
      """
      "$@" </dev/null &
      echo $!
      cat >/dev/null
      kill -9 $!
      """;

  /**
   * Starts it under {@code ./weft run} or {@code java -jar}, and waits until it serves.
   *
   * @param service the port of the service that its handlers ask
   */
  static FrameworkProcess start(Path root, Path jar, int service, int threads, boolean onWeft)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("sh", "-c", WITH_LIFELINE, "sh"));
    if (onWeft) {
      command.addAll(
          List.of(root.resolve("weft").toString(), "run", "--threads", String.valueOf(threads)));
    } else {
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(List.of(Carriers.of(threads)));
      command.add("-jar");
    }
    command.addAll(List.of(jar.toString(), "http://localhost:" + service + "/"));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().remove("JDK_JAVA_OPTIONS");
    BufferedReader output = builder.start().inputReader();
    long pid = Long.parseLong(output.readLine()); // ./weft becomes the JVM
    return new FrameworkProcess(pid, ServerPort.read(output));
  }

  /** Returns the CPU time that it has taken. */
  long cpuNanos() {
    return CpuClock.nanosOf(pid);
  }
}
