package dev.weft.bench.http;

import dev.weft.bench.run.Probe;
import dev.weft.bench.run.WindowProbe;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** Loads one web server and watches it. Its parameter is the number of connections. */
public final class HttpPeerProbe implements WindowProbe {
  static final String PEER = "weft.bench.http.peer";
  static final String THREADS = "weft.bench.http.threads";
  static final String WORK = "weft.bench.http.work";

  /** How many {@link SlowClients} there are beside the load. */
  static final String SLOW_CLIENTS = "weft.bench.http.slow";

  private static final int WARM_UP_MILLIS = 3_000;
  private static final int WINDOW_MILLIS = 250;

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
    SlowClients.start(server.port(), Integer.getInteger(SLOW_CLIENTS, 0));
    HttpPeerLoad load =
        new HttpPeerLoad(
            server.port(), "/hello?name=weft", Integer.parseInt(parameter.replace(",", "")));
    load.run(quick ? WARM_UP_MILLIS / 2 : WARM_UP_MILLIS, server::cpuNanos);
    return () -> load.measure(WINDOW_MILLIS, server::cpuNanos);
  }
}
