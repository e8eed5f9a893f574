package dev.weft.bench.frameworks;

import dev.weft.bench.http.HttpPeerLoad;
import dev.weft.bench.run.Probe;
import dev.weft.bench.run.WindowProbe;
import java.nio.file.Path;

/** Loads a program and watches it. Its parameter is the path that requests ask for. */
public final class FrameworkProbe implements WindowProbe {
  static final String PROGRAM = "weft.bench.frameworks.program";
  static final String THREADS = "weft.bench.frameworks.threads";
  static final String ON_WEFT = "weft.bench.frameworks.weft";

  private static final int CONNECTIONS = 64;

  // the servers are large: their hot code is compiled only after some ten thousand requests
  private static final int WARM_UP_MILLIS = 8_000;
  private static final int WINDOW_MILLIS = 500;

  // 64 connections ask 3,200 times a second: the 99 % latency is that of some 60 requests a window
  private static final int SLEEP20_WINDOW_MILLIS = 2_000;

  /** Creates one. */
  public FrameworkProbe() {}

  @Override
  public Windows prepare(String parameter, boolean quick) throws Exception {
    if (!System.getProperty("os.name").equals("Linux")) {
      throw new Probe.Impossible("needs Linux");
    }
    Path root = Path.of(System.getProperty("weft.root", "")).toAbsolutePath();
    Path jar = new FrameworkJar(root, System.getProperty(PROGRAM)).make();
    FrameworkProcess server =
        FrameworkProcess.start(
            root,
            jar,
            AskedService.start(),
            Integer.getInteger(THREADS),
            Boolean.getBoolean(ON_WEFT));
    HttpPeerLoad load = new HttpPeerLoad(server.port(), "/" + parameter, CONNECTIONS);
    load.run(quick ? WARM_UP_MILLIS / 2 : WARM_UP_MILLIS, server::cpuNanos);
    int window = parameter.equals("sleep20") ? SLEEP20_WINDOW_MILLIS : WINDOW_MILLIS;
    return () -> load.measure(window, server::cpuNanos);
  }
}
