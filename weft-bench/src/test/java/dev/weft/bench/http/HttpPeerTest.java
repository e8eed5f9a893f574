package dev.weft.bench.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each web server answers under load, with handlers that ask another server. */
@EnabledOnOs(OS.LINUX)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HttpPeerTest {
  private static final int BRIEF_MILLIS = 100;

  @ParameterizedTest
  @EnumSource
  void thePeerAnswers(HttpPeer peer) throws Exception {
    Path file = Path.of(System.getProperty("weft.root"), "weft.args");
    List<String> flags = new ArrayList<>(Files.readAllLines(file));
    flags.add("-D" + HttpWork.BACKEND + "=" + HttpBackend.start());
    try (HttpPeerProcess server = new HttpPeerProcess(peer, 2, HttpWork.ROUND_TRIP, flags)) {
      HttpPeerLoad load = new HttpPeerLoad(server.port(), "/hello", 10);
      HttpPeerLoad.Result result;
      do { // a server that has just been started may take longer for its first answers
        result = load.run(BRIEF_MILLIS, server::cpuNanos);
      } while (result.answers() == 0);
      assertThat(result.latencies().getTotalCount()).isEqualTo(result.answers());
      assertThat(result.cpuNanos()).isBetween(1L, server.cpuNanos());
    }
  }
}
