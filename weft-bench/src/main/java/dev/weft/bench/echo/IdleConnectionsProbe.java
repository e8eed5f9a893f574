package dev.weft.bench.echo;

import dev.weft.bench.run.Probe;
import java.time.Duration;
import java.util.Map;

/**
 * Watches a server with 100 busy connections: without idle ones, with the parameter's number of
 * them, and without again. So a drift over the time does not count as their cost.
 */
public final class IdleConnectionsProbe implements Probe {
  private static final int BUSY = 100;
  private static final int SIZE = 64;

  /** Creates one. */
  public IdleConnectionsProbe() {}

  @Override
  public Map<String, Double> measure(String parameter, boolean quick) throws Exception {
    int idle = Integer.parseInt(parameter);
    Duration pause = Duration.ofMillis(500);
    Duration time = Duration.ofMillis(quick ? 1_000 : 2_000);
    try (ServerProcess server = EchoSetup.start(BUSY + idle, SIZE)) {
      EchoLoad.warmUp(server, EchoSetup.threads(), SIZE, quick);
      EchoLoad load = new EchoLoad(server, EchoSetup.threads(), BUSY, SIZE);
      double before = load.saturate(pause, time).requestsPerSecond();
      long heap = server.usedHeap();
      LoadLoop idleOnes = new LoadLoop(server.port(), SIZE);
      idleOnes.open(idle);
      double bytesEach = (double) (server.usedHeap() - heap) / idle;
      double with = load.saturate(pause, time).requestsPerSecond();
      idleOnes.close();
      double after = load.saturate(pause, time).requestsPerSecond();
      double without = (before + after) / 2;
      return Map.of(
          EchoBenchmark.LOST.name(),
          100 * (1 - with / without),
          EchoBenchmark.THROUGHPUT.name(),
          with / 1e3,
          EchoBenchmark.IDLE_HEAP.name(),
          bytesEach);
    }
  }
}
