package dev.weft.bench.echo;

import dev.weft.bench.run.WindowProbe;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Opens connections to a server that each have one message echoed and are closed, for a while; then
 * keeps the server busy by some that stay, to see whether its threads have got their share of them.
 */
public final class AcceptProbe implements WindowProbe {
  private static final int SIZE = 64;
  private static final int WAVE = 100;
  private static final int STAYING = 100;
  private static final long COME_AND_GO_NANOS = Duration.ofMillis(300).toNanos();
  private static final Duration SETTLE = Duration.ofMillis(50);
  private static final Duration WATCH = Duration.ofMillis(200);

  /** Creates one. */
  public AcceptProbe() {}

  @Override
  public Windows prepare(String parameter, boolean quick) throws Exception {
    ServerProcess server = EchoSetup.start(WAVE + STAYING, SIZE);
    EchoLoad.warmUp(server, EchoSetup.threads(), SIZE, quick);
    EchoLoad staying = new EchoLoad(server, EchoSetup.threads(), STAYING, SIZE);
    LoadLoop comingAndGoing = new LoadLoop(server.port(), server.talk(SIZE));
    comeAndGo(server, comingAndGoing);
    return () -> {
      Map<String, Double> numbers = new HashMap<>(comeAndGo(server, comingAndGoing));
      numbers.putAll(EchoProbe.numbersOf(staying.saturate(SETTLE, WATCH)));
      return numbers;
    };
  }

  private static Map<String, Double> comeAndGo(ServerProcess server, LoadLoop loop) {
    long cpu = server.cpuNanos();
    long start = System.nanoTime();
    long connections = 0;
    while (System.nanoTime() - start < COME_AND_GO_NANOS) {
      loop.open(WAVE);
      loop.close();
      connections += WAVE;
    }
    double nanos = System.nanoTime() - start;
    return Map.of(
        EchoBenchmark.CPU_OF_CONNECTION.name(),
        (server.cpuNanos() - cpu) / 1e3 / connections,
        EchoBenchmark.CONNECTIONS.name(),
        1e6 * connections / nanos);
  }
}
