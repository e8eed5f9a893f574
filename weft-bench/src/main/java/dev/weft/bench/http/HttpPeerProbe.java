package dev.weft.bench.http;

import dev.weft.bench.run.Probe;
import dev.weft.bench.run.WindowProbe;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Loads one web server and watches it. Its parameter is the number of connections. */
public final class HttpPeerProbe implements WindowProbe {
  static final String PEER = "weft.bench.http.peer";
  static final String THREADS = "weft.bench.http.threads";
  static final String WORK = "weft.bench.http.work";

  private static final int WARM_UP_MILLIS = 3_000;
  private static final int WINDOW_MILLIS = 250;
  private static final double P99 = 99;

  /** Creates one. */
  public HttpPeerProbe() {}

  @Override
  public Windows prepare(String parameter, boolean quick) throws Exception {
    if (!System.getProperty("os.name").equals("Linux")) {
      throw new Probe.Impossible("needs Linux");
    }
    List<String> flags = new ArrayList<>(ManagementFactory.getRuntimeMXBean().getInputArguments());
    flags.add("-D" + HttpWork.BACKEND + "=" + HttpBackend.start());
    HttpPeerProcess server =
        new HttpPeerProcess(
            HttpPeer.valueOf(System.getProperty(PEER)),
            Integer.getInteger(THREADS),
            HttpWork.valueOf(System.getProperty(WORK)),
            flags);
    HttpPeerLoad load =
        new HttpPeerLoad(server.port(), Integer.parseInt(parameter.replace(",", "")));
    load.run(quick ? WARM_UP_MILLIS / 2 : WARM_UP_MILLIS);
    return () -> measure(server, load);
  }

  private static Map<String, Double> measure(HttpPeerProcess server, HttpPeerLoad load)
      throws IOException {
    long cpu = server.cpuNanos();
    HttpPeerLoad.Result result = load.run(WINDOW_MILLIS);
    cpu = server.cpuNanos() - cpu;
    if (result.answers() == 0) {
      throw new IOException("the server has answered nothing in " + WINDOW_MILLIS + " ms");
    }
    return Map.of(
        HttpPeersBenchmark.CPU.name(),
        cpu / 1e3 / result.answers(),
        HttpPeersBenchmark.THROUGHPUT.name(),
        1e6 * result.answers() / result.nanos(),
        HttpPeersBenchmark.LATENCY.name(),
        result.latencies().getValueAtPercentile(P99) / 1e3);
  }
}
