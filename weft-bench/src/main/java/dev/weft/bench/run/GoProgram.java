package dev.weft.bench.run;

import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import java.util.List;
import java.util.Map;

/**
 * Measures work that the Go program does, in turns with its peers.
 *
 * @param work the name of the work in {@code main.go}
 * @param threads how many threads run goroutines at a time
 */
public record GoProgram(String work, int threads) implements InTurns {
  @Override
  public Outcome measure(Trial trial) throws InterruptedException {
    return Turns.take(List.of(this), trial).getFirst();
  }

  @Override
  public Session open(Trial trial) throws InterruptedException {
    try {
      String program = GoBuild.program(trial.driver().root(), trial.log()).toString();
      String quick = String.valueOf(trial.pace().quick());
      return ProbeProcess.start(
              List.of(program, work, trial.value(), quick),
              Map.of("GOMAXPROCS", String.valueOf(threads)),
              trial)
          .session();
    } catch (Probe.Impossible e) {
      return new Absent(e.getMessage());
    }
  }
}
