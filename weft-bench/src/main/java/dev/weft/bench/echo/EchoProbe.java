package dev.weft.bench.echo;

import dev.weft.bench.run.Probe;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Saturates a server and watches it. With one thread and small messages it then sends half as much,
 * and takes the latencies.
 *
 * <p>Its parameter is the number of connections, or that and the size of a message: {@code 1,000 ×
 * 16 KB}.
 */
public final class EchoProbe implements Probe {
  private static final int SMALL = 64;
  private static final double P99 = 99;

  /** Creates one. */
  public EchoProbe() {}

  @Override
  public Map<String, Double> measure(String parameter, boolean quick) throws Exception {
    List<String> parts = List.of(parameter.split(" × ", -1));
    int connections = Integer.parseInt(parts.getFirst().replace(",", ""));
    int size = parts.size() == 1 ? SMALL : bytes(parts.getLast());
    Map<String, Double> numbers = new HashMap<>();
    try (ServerProcess server = EchoSetup.start(connections, size)) {
      EchoLoad.warmUp(server, EchoSetup.threads(), size, quick);
      EchoLoad load = new EchoLoad(server, EchoSetup.threads(), connections, size);
      EchoLoad.Window window = load.saturate(time(quick, 500), time(quick, 1_500));
      numbers.put(EchoBenchmark.CPU.name(), window.cpuNanosPerRequest() / 1e3);
      numbers.put(EchoBenchmark.THROUGHPUT.name(), window.requestsPerSecond() / 1e3);
      numbers.put(EchoBenchmark.ALLOCATED.name(), window.bytesPerRequest());
      if (parts.size() == 1 && EchoSetup.threads() == 1) {
        double half = window.requestsPerSecond() / 2;
        double nanos =
            load.atRate(half, time(quick, 500), time(quick, 2_000)).getValueAtPercentile(P99);
        numbers.put(EchoBenchmark.LATENCY.name(), nanos / 1e3);
      }
    }
    return numbers;
  }

  private static int bytes(String size) {
    int space = size.indexOf(' ');
    int number = Integer.parseInt(size.substring(0, space));
    return size.endsWith(" KB") ? 1024 * number : number;
  }

  private static Duration time(boolean quick, int quickMillis) {
    return Duration.ofMillis(quick ? quickMillis : 2L * quickMillis);
  }
}
