package dev.weft.bench.echo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.bench.run.GoBuild;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Servers that echo and compute. */
@EnabledOnOs(OS.LINUX)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class MixedServerTest {
  private static final Duration BRIEF = Duration.ofMillis(200);
  private static final Duration LONG = Duration.ofSeconds(20);

  @ParameterizedTest
  @EnumSource(names = {"MIXED", "MIXED_TOGETHER", "MIXED_APART", "VIRTUAL_THREADS"})
  void aServerEchoesWhileItComputes(EchoServer.Kind kind) throws Exception {
    check(ServerProcess.start(kind, 2, EchoSetup.buffer(64), TestFlags.of(2)));
  }

  @Test
  void theServerInGoEchoesWhileItComputes() throws Exception {
    assumeTrue(GoBuild.isPossible(), "there is no Go");
    Path program =
        GoBuild.program(
            Path.of(System.getProperty("weft.root")),
            new PrintStream(OutputStream.nullOutputStream()));
    List<String> command = List.of(program.toString(), "server");
    check(ServerProcess.start(false, command, Map.of("GOMAXPROCS", "2")));
  }

  private static void check(ServerProcess server) throws IOException {
    try (server) {
      LoadLoop load = new LoadLoop(server.port(), server.talk(64));
      load.open(10);
      assertThat(server.computedMicros()).isZero();
      assertThat(server.usedHeap()).isBetween(10_000L, server.residentBytes());
      assertThat(server.allocated()).isPositive();

      server.startComputing(2);
      long start = System.nanoTime();
      AtomicBoolean relieved = new AtomicBoolean();
      LoadLoop.Answers answers = load.openLoop(1_000, BRIEF, LONG, () -> relieved.set(true));

      assertThat(relieved).isFalse();
      assertThat(answers.latencies().getTotalCount()).isBetween(100L, 400L); // 200 on average
      assertThat(answers.inTime()).isLessThanOrEqualTo(answers.latencies().getTotalCount());
      while (server.computedMicros() < 10_000) {
        Thread.onSpinWait(); // the test's limit ends it
      }
      server.stopComputing();
      double cores = server.computedMicros() * 1e3 / (System.nanoTime() - start);
      assertThat(cores).as("two threads computed on so many cores").isLessThan(3);
      long before;
      do {
        before = server.computedMicros();
      } while (sleepAndRead(server) > before);
    }
  }

  /** Longer than a burst, so that a server that has stopped does not seem to by chance. */
  private static long sleepAndRead(ServerProcess server) throws IOException {
    try {
      Thread.sleep(100);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return server.computedMicros();
  }
}
