package dev.weft.bench.echo;

import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import dev.weft.bench.run.Absent;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.GoBuild;
import dev.weft.bench.run.Probe;
import dev.weft.bench.run.WindowProbe;

/** Measures the server that is written in Go. */
record GoServerWindows(Class<? extends WindowProbe> probe, int threads) implements InTurns {
  @Override
  public Outcome measure(Trial trial) throws InterruptedException {
    try (Session session = open(trial)) {
      return session.window();
    }
  }

  @Override
  public Session open(Trial trial) throws InterruptedException {
    try {
      return ForkedWindows.of(
              probe,
              "-D" + EchoSetup.PROGRAM + "=" + GoBuild.program(trial.driver().root(), trial.log()),
              "-D" + EchoSetup.THREADS + "=" + threads)
          .open(trial.of(trial.driver()));
    } catch (Probe.Impossible e) {
      return new Absent(e.getMessage());
    }
  }
}
