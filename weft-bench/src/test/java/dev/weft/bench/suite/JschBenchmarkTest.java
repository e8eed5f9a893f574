package dev.weft.bench.suite;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The server of the benchmark runs the commands of a session; a wrong answer would throw. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class JschBenchmarkTest {
  @Test
  void aSessionRunsItsCommands() throws Exception {
    int port = JschBenchmark.startServer();
    assertThat(port).isPositive();
    JschBenchmark.runSession(port, 7);
  }
}
