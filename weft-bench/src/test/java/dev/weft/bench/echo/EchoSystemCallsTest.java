package dev.weft.bench.echo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.testkit.Feature;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What {@code strace -c} counts while Weft echoes. */
@EnabledOnOs(OS.LINUX)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class EchoSystemCallsTest {
  private static final int CONNECTIONS = 100;
  private static final int SIZE = 64;
  private static final int THREADS = 1;

  /** How long strace watches, in milliseconds. */
  private static final int WATCHED = 1_500;

  private @TempDir Path folder;

  @Test
  @Feature("I7")
  void aSteadyEchoIsAReceiveAndASendAndOneWaitForMany() throws Exception {
    Map<String, Count> counts = trace(EchoServer.Kind.WEFT, CONNECTIONS);
    long messages = counts.get("recvfrom").calls();

    assertThat(messages).as("messages in %s", counts).isGreaterThan(500);
    // the window begins and ends anywhere: a message may be cut at each end
    assertThat(counts.get("sendto").calls()).isBetween(messages - 2, messages + 2);
    assertThat(counts.get("recvfrom").errors())
        .as("reads that found no data")
        .isLessThanOrEqualTo(1);
    assertThat(counts.getOrDefault("epoll_ctl", Count.NONE).calls()).isZero();
    assertThat(waits(counts)).as("waits in %s", counts).isLessThan(mostWaits(messages));
  }

  /** Unmodified sockets of the JDK: no look before the wait, and no word to the kernel. */
  @Test
  @Feature("H2")
  void aSteadyEchoOfBlockingSocketsIsNoMore() throws Exception {
    Map<String, Count> counts = trace(EchoServer.Kind.GUESTS_OF_WEFT, CONNECTIONS);
    long messages = counts.get("recvfrom").calls();

    assertThat(messages).as("messages in %s", counts).isGreaterThan(500);
    assertThat(counts.get("sendto").calls()).isBetween(messages - 10, messages + 10);
    assertThat(counts.get("recvfrom").errors())
        .as("reads that found no data")
        .isLessThanOrEqualTo(10);
    assertThat(counts.getOrDefault("epoll_ctl", Count.NONE).calls()).isLessThanOrEqualTo(10);
    assertThat(waits(counts)).as("waits in %s", counts).isLessThan(mostWaits(messages));
  }

  /**
   * Returns the limit of waits: one for many messages; but slices that strace makes long must not
   * keep the poller from being asked for more than a millisecond (LATE_POLL_NANOS of the worker).
   */
  private static long mostWaits(long messages) {
    return Math.max(WATCHED, messages / 10);
  }

  private static long waits(Map<String, Count> counts) {
    return Stream.of("epoll_wait", "epoll_pwait", "epoll_pwait2")
        .mapToLong(call -> counts.getOrDefault(call, Count.NONE).calls())
        .sum();
  }

  /** Calls of one kind, and how many of them failed. */
  private record Count(long calls, long errors) {
    static final Count NONE = new Count(0, 0);
  }

  private Map<String, Count> trace(EchoServer.Kind kind, int connections)
      throws IOException, InterruptedException {
    assumeTrue(isInstalled("strace"), "there is no strace: install it to run this test");
    Path summary = folder.resolve("summary");
    Path errors = folder.resolve("errors");
    try (ServerProcess server =
        ServerProcess.start(kind, THREADS, EchoSetup.buffer(SIZE), TestFlags.of(THREADS))) {
      EchoLoad load = new EchoLoad(server, THREADS, connections, SIZE);
      load.saturate(
          Duration.ofMillis(200),
          () -> {
            Process strace =
                new ProcessBuilder(
                        "strace", "-c", "-f", "-p", "" + server.pid(), "-o", summary.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(errors.toFile())
                    .start();
            try {
              Thread.sleep(WATCHED);
            } finally {
              strace.destroy(); // it writes its summary then
              strace.waitFor();
            }
          });
    }
    String said = Files.readString(errors);
    assumeTrue(!said.contains("not permitted"), "strace may not look at processes here: " + said);
    return parse(Files.readAllLines(summary));
  }

  private static boolean isInstalled(String program) {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
        .anyMatch(path -> Files.isExecutable(Path.of(path, program)));
  }

  /** Lines are "% time, seconds, usecs/call, calls, errors or nothing, syscall". */
  private static Map<String, Count> parse(List<String> lines) {
    Map<String, Count> counts = new HashMap<>();
    for (String line : lines) {
      String[] words = line.strip().split("\\s+", -1);
      if (words.length >= 5 && words[0].matches("[0-9.]+") && words[3].matches("[0-9]+")) {
        long errors = words.length == 6 ? Long.parseLong(words[4]) : 0;
        counts.put(words[words.length - 1], new Count(Long.parseLong(words[3]), errors));
      }
    }
    return counts;
  }
}
