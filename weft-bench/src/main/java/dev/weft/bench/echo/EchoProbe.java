package dev.weft.bench.echo;

import dev.weft.bench.run.WindowProbe;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Saturates a server for a while and watches it. With one thread and small messages it then sends
 * half as much, and takes the latencies.
 *
 * <p>Its parameter is the number of connections, or that and the size of a message: {@code 1,000 ×
 * 16 KB}.
 */
public final class EchoProbe implements WindowProbe {
  private static final int SMALL = 64;
  private static final Duration SETTLE = Duration.ofMillis(50);
  private static final Duration WATCH = Duration.ofMillis(200);
  private static final Duration SLICE = Duration.ofMillis(20);
  private static final int SLICES = 15;

  /** Creates one. */
  public EchoProbe() {}

  @Override
  public Windows prepare(String parameter, boolean quick) throws Exception {
    List<String> parts = List.of(parameter.split(" × ", -1));
    int connections = Integer.parseInt(parts.getFirst().replace(",", ""));
    int size = parts.size() == 1 ? SMALL : bytes(parts.getLast());
    int threads = EchoSetup.threads();
    ServerProcess server = EchoSetup.start(connections, size);
    EchoLoad.warmUp(server, threads, size, quick);
    EchoLoad load = new EchoLoad(server, threads, connections, size);
    boolean withLatency = parts.size() == 1 && threads == 1;
    return () -> measure(load, withLatency);
  }

  private static Map<String, Double> measure(EchoLoad load, boolean withLatency)
      throws InterruptedException {
    EchoLoad.Window window = load.saturate(SETTLE, WATCH);
    Map<String, Double> numbers = new HashMap<>(numbersOf(window));
    if (withLatency) {
      double half = window.requestsPerSecond() / 2;
      EchoLoad.Latencies latencies = load.atRate(half, SETTLE, SLICE, SLICES);
      numbers.put(EchoBenchmark.LATENCY.name(), latencies.p99() / 1e3);
      numbers.put(EchoBenchmark.LATENCY_OF_SLICE.name(), latencies.p99OfSlice() / 1e3);
    }
    return numbers;
  }

  static Map<String, Double> numbersOf(EchoLoad.Window window) {
    return Map.of(
        EchoBenchmark.CPU.name(),
        window.cpuNanosPerRequest() / 1e3,
        EchoBenchmark.THROUGHPUT.name(),
        window.requestsPerSecond() / 1e3,
        EchoBenchmark.ALLOCATED.name(),
        window.bytesPerRequest());
  }

  private static int bytes(String size) {
    int space = size.indexOf(' ');
    int number = Integer.parseInt(size.substring(0, space));
    return size.endsWith(" KB") ? 1024 * number : number;
  }
}
