package dev.weft.bench.echo;

import dev.weft.bench.run.WindowProbe;
import java.time.Duration;
import java.util.Map;

/**
 * Counts the requests a second that saturate a server with the connections of {@link MixedProbe}.
 */
public final class SaturationProbe implements WindowProbe {
  private static final Duration SETTLE = Duration.ofMillis(50);
  private static final Duration WATCH = Duration.ofMillis(200);

  /** Creates one. */
  public SaturationProbe() {}

  @Override
  public Windows prepare(String parameter, boolean quick) throws Exception {
    ServerProcess server = EchoSetup.start(MixedProbe.CONNECTIONS, MixedProbe.SIZE);
    EchoLoad.warmUp(server, 1, MixedProbe.SIZE, quick);
    EchoLoad load = new EchoLoad(server, 1, MixedProbe.CONNECTIONS, MixedProbe.SIZE);
    return () ->
        Map.of(
            EchoBenchmark.THROUGHPUT.name(),
            load.saturate(SETTLE, WATCH).requestsPerSecond() / 1e3);
  }
}
