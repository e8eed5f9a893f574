package dev.weft.bench.echo;

import dev.weft.bench.model.EntryPoint;
import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.WindowProbe;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Measures a server in a process of its own. The server's process runs with the measured build of
 * Weft; the probe's process, which makes the load, runs with the driver's build: two measured
 * builds get the very same load.
 */
record ServerWindows(
    Class<? extends WindowProbe> probe, EchoServer.Kind server, int threads, List<String> flags)
    implements InTurns {
  @Override
  public Outcome measure(Trial trial) throws InterruptedException {
    return windows(trial).measure(trial.of(trial.driver()));
  }

  @Override
  public Session open(Trial trial) throws InterruptedException {
    return windows(trial).open(trial.of(trial.driver()));
  }

  @Override
  public Optional<EntryPoint> entryPoint() {
    return Optional.of(
        new EntryPoint(
            switch (server) {
              case WEFT, WEFT_LISTENERS -> WeftServer.class;
              case MIXED, MIXED_TOGETHER, MIXED_APART -> MixedServer.class;
              case GUESTS_OF_WEFT -> GuestServer.class;
              case HTTP_WEFT -> HttpHello.class;
              default -> ServerMain.class;
            }));
  }

  private ForkedWindows windows(Trial trial) {
    List<String> ofServer = new ArrayList<>(trial.measured().jvmFlags());
    ofServer.addAll(flags);
    List<String> ofProbe = new ArrayList<>(flags);
    ofProbe.add("-D" + EchoSetup.SERVER + "=" + server);
    ofProbe.add("-D" + EchoSetup.THREADS + "=" + threads);
    ofProbe.add("-D" + EchoSetup.CLASS_PATH + "=" + trial.measured().classPath());
    ofProbe.add("-D" + EchoSetup.FLAGS + "=" + String.join("\n", ofServer));
    return new ForkedWindows(probe, ofProbe);
  }
}
