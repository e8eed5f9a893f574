package dev.weft.bench.echo;

import dev.weft.bench.model.EntryPoint;
import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import dev.weft.bench.report.Spread;
import dev.weft.bench.run.Absent;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Measures a server at a third of the requests that saturate this machine. The saturation is that
 * of the bare loop over epoll, which no server of the comparison exceeds. It is measured once, when
 * the first server is started, so that the load is the same for all servers and rounds.
 */
record ThirdOfSaturation(MixedBenchmark.Server server) implements InTurns {
  /** Requests a second; empty until it is measured. */
  private static final AtomicReference<Optional<Double>> SATURATION =
      new AtomicReference<>(Optional.empty());

  @Override
  public Session open(Trial trial) throws InterruptedException {
    if (SATURATION.get().isEmpty()) {
      switch (saturate(trial.of(trial.driver()))) {
        case Outcome.Failure failure -> {
          return new Absent("no saturation: " + failure.reason());
        }
        case Outcome.Readings readings -> {
          List<Double> thousands = readings.byMetric().get(EchoBenchmark.THROUGHPUT.name());
          SATURATION.set(Optional.of(1e3 * Spread.of(thousands).median()));
        }
      }
    }
    double third = SATURATION.get().orElseThrow() / 3;
    return server.with(List.of(MixedProbe.rate(third))).open(trial);
  }

  private static Outcome saturate(Trial trial) throws InterruptedException {
    return EchoSetup.probe(
            SaturationProbe.class, EchoServer.Kind.BARE_EPOLL, MixedBenchmark.THREADS)
        .measure(trial);
  }

  @Override
  public Optional<EntryPoint> entryPoint() {
    return server.with(List.of()).entryPoint();
  }
}
