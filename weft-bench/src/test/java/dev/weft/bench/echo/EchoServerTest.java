package dev.weft.bench.echo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each server echoes under both kinds of load; opening a connection compares what comes back. */
@EnabledOnOs(OS.LINUX)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class EchoServerTest {
  private static final Duration NONE = Duration.ZERO;
  private static final Duration BRIEF = Duration.ofMillis(100);

  @ParameterizedTest
  @EnumSource
  void theServerEchoesSmallMessages(EchoServer.Kind kind) throws Exception {
    try (ServerProcess server = start(kind, 1, 64)) {
      EchoLoad load = new EchoLoad(server, 1, 10, 64);

      EchoLoad.Window window = load.saturate(NONE, BRIEF);
      assertThat(window.requestsPerSecond()).isPositive();
      assertThat(window.cpuNanosPerRequest()).isPositive();

      EchoLoad.Latencies latencies = load.atRate(1_000, NONE, BRIEF, 2);
      assertThat(latencies.count()).isBetween(100L, 400L); // 200 on average
      assertThat(latencies.p99()).isPositive();
      assertThat(latencies.p99OfSlice()).isPositive();
    }
  }

  @ParameterizedTest
  @EnumSource
  void theServerEchoesLargeMessagesOnTwoThreads(EchoServer.Kind kind) throws Exception {
    int large = 300_000; // more than a socket takes at once
    try (ServerProcess server = start(kind, 2, large)) {
      EchoLoad load = new EchoLoad(server, 2, 5, large);

      assertThat(load.saturate(NONE, BRIEF).requestsPerSecond()).isPositive();
    }
  }

  @Test
  @Feature("H9")
  void anUnmodifiedProgramEchoesWithTheHookOff() throws Exception {
    List<String> flags = TestFlags.of(1);
    flags.add("-Dweft.hook=off");
    try (ServerProcess server =
        ServerProcess.start(EchoServer.Kind.GUESTS_OF_WEFT, 1, EchoSetup.buffer(64), flags)) {
      EchoLoad load = new EchoLoad(server, 1, 10, 64);

      assertThat(load.saturate(NONE, BRIEF).requestsPerSecond()).isPositive();
    }
  }

  /** Fibers and workers once waited for each other in the monitors of the JDK's selector. */
  @Test
  @Feature("I7")
  void weftOnNioWithTwoThreadsKeepsGoing() throws Exception {
    List<String> flags = TestFlags.of(2);
    flags.add("-Dweft.poller=nio");
    try (ServerProcess server =
        ServerProcess.start(EchoServer.Kind.WEFT, 2, EchoSetup.buffer(64), flags)) {
      EchoLoad load = new EchoLoad(server, 2, 100, 64);

      assertThat(load.saturate(NONE, Duration.ofSeconds(4)).requestsPerSecond()).isPositive();
    }
  }

  @Test
  void theHeapOfAServerIsToldAndNothingIsLeftOfIt() throws Exception {
    ProcessHandle process;
    try (ServerProcess server = start(EchoServer.Kind.WEFT, 1, 64)) {
      process = ProcessHandle.of(server.pid()).orElseThrow();
      assertThat(server.usedHeap()).isBetween(100_000L, 1_000_000_000L);
      assertThat(server.allocated()).isBetween(100_000L, 1_000_000_000L);
      assertThat(process.isAlive()).isTrue();
    }
    assertThat(process.isAlive()).isFalse();
  }

  @Test
  void aServerEndsWhenItsInputDoes() throws Exception {
    try (ServerProcess server = start(EchoServer.Kind.NIO, 1, 64)) {
      server.closeInput();
      assertThat(ProcessHandle.of(server.pid()).map(ProcessHandle::onExit))
          .hasValueSatisfying(end -> assertThat(end).succeedsWithin(Duration.ofSeconds(30)));
    }
  }

  private static ServerProcess start(EchoServer.Kind kind, int threads, int size)
      throws IOException {
    return ServerProcess.start(kind, threads, EchoSetup.buffer(size), TestFlags.of(threads));
  }
}
