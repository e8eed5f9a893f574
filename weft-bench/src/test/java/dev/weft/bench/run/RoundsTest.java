package dev.weft.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Measurement;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Run;
import dev.weft.bench.model.Trial;
import java.io.OutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RoundsTest {
  private final PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());

  @Test
  void contestantsTakeTurnsAndEachRoundStartsWithAnother() throws InterruptedException {
    Measurement one = trial -> new Outcome.Readings(Map.of("time", List.of(1.0)));
    Comparison comparison =
        Comparison.named("turns", "Takes turns.")
            .parameter("n", 1, 2)
            .contestant("a", one)
            .contestant("b", one)
            .contestant("c", one)
            .build();

    Progress progress = new Progress.InLines(12, nowhere);
    List<Run> runs = new Rounds(2, List.of(), progress).run(comparison, Paces.thorough(), nowhere);

    assertThat(runs)
        .extracting(run -> run.round() + run.parameter() + run.contestant())
        .containsExactly(
            "11a", "11b", "11c", "12a", "12b", "12c", "21b", "21c", "21a", "22b", "22c", "22a");
  }

  @Test
  void quickFitsIntoAMinute() {
    for (int trials : new int[] {1, 6, 9, 24, 36}) {
      Trial.Pace pace = Paces.quick(trials);
      Duration perTrial = pace.warmUp().plus(pace.measurement()).plusMillis(900);
      assertThat(perTrial.multipliedBy(trials)).isLessThan(Duration.ofMinutes(1));
    }
  }
}
