package dev.weft.bench.echo;

import dev.weft.bench.run.WindowProbe;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Watches two servers of a kind in turns, each with 100 busy connections; one of them has the
 * parameter's number of idle ones too.
 */
public final class IdleConnectionsProbe implements WindowProbe {
  private static final int BUSY = 100;
  private static final int SIZE = 64;
  private static final Duration SETTLE = Duration.ofMillis(50);
  private static final Duration WATCH = Duration.ofMillis(200);

  /** Creates one. */
  public IdleConnectionsProbe() {}

  @Override
  public Windows prepare(String parameter, boolean quick) throws Exception {
    int idle = Integer.parseInt(parameter);
    EchoLoad alone = busy(EchoSetup.start(BUSY, SIZE), quick);
    ServerProcess crowded = EchoSetup.start(BUSY + idle, SIZE);
    EchoLoad beside = busy(crowded, quick);
    long heap = crowded.usedHeap();
    long memory = crowded.residentBytes();
    new LoadLoop(crowded.port(), crowded.talk(SIZE)).open(idle);
    Map<String, Double> each =
        Map.of(
            EchoBenchmark.IDLE_HEAP.name(),
            (double) (crowded.usedHeap() - heap) / idle,
            EchoBenchmark.IDLE_MEMORY.name(),
            (double) (crowded.residentBytes() - memory) / idle);
    return () -> measure(alone, beside, each);
  }

  private static EchoLoad busy(ServerProcess server, boolean quick)
      throws IOException, InterruptedException {
    EchoLoad.warmUp(server, EchoSetup.threads(), SIZE, quick);
    return new EchoLoad(server, EchoSetup.threads(), BUSY, SIZE);
  }

  private static Map<String, Double> measure(
      EchoLoad alone, EchoLoad beside, Map<String, Double> memory) throws InterruptedException {
    double before = alone.saturate(SETTLE, WATCH).requestsPerSecond();
    double with = beside.saturate(SETTLE, WATCH).requestsPerSecond();
    double after = alone.saturate(SETTLE, WATCH).requestsPerSecond();
    double without = (before + after) / 2;
    Map<String, Double> numbers = new HashMap<>(memory);
    numbers.put(EchoBenchmark.LOST.name(), 100 * (1 - with / without));
    numbers.put(EchoBenchmark.THROUGHPUT.name(), with / 1e3);
    return numbers;
  }
}
