package dev.weft.bench.echo;

import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Trial;
import dev.weft.bench.run.Absent;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.GoBuild;
import dev.weft.bench.run.Probe;
import dev.weft.bench.run.WindowProbe;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Measures the server that is written in Go. */
record GoServerWindows(Class<? extends WindowProbe> probe, int threads, List<String> flags)
    implements InTurns {
  @Override
  public Session open(Trial trial) throws InterruptedException {
    try {
      Path program = GoBuild.program(trial.driver().root(), trial.log());
      List<String> ofProbe = new ArrayList<>(flags);
      ofProbe.add("-D" + EchoSetup.PROGRAM + "=" + program);
      ofProbe.add("-D" + EchoSetup.THREADS + "=" + threads);
      return new ForkedWindows(probe, ofProbe).open(trial.of(trial.driver()));
    } catch (Probe.Impossible e) {
      return new Absent(e.getMessage());
    }
  }
}
