package dev.weft.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Library;
import dev.weft.bench.model.Measurement;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Run;
import dev.weft.bench.model.Trial;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RoundsTest {
  private static final Library LIBRARY = new Library(Path.of(""), "", List.of());

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
    List<Run> runs = new Rounds(2, LIBRARY, progress).run(comparison, Paces.thorough(), nowhere);

    assertThat(runs)
        .extracting(run -> run.round() + run.parameter() + run.contestant())
        .containsExactly(
            "11a", "11b", "11c", "12a", "12b", "12c", "21b", "21c", "21a", "22b", "22c", "22a");
  }

  @Test
  void contestantsThatCanAreUpTogetherAndHaveTheirWindowsInTurns() throws InterruptedException {
    List<String> story = new ArrayList<>();
    Comparison comparison =
        Comparison.named("windows", "Takes turns in a round.")
            .contestant("a", new Told("a", story))
            .contestant("b", new Told("b", story))
            .contestant("c", new Told("c", story))
            .build();

    Progress progress = new Progress.InLines(3, nowhere);
    List<Run> runs = new Rounds(1, LIBRARY, progress).run(comparison, Paces.quick(3), nowhere);

    assertThat(String.join(" ", story))
        .startsWith("open a, open b, open c, b c a, c a b, a b c, b c a,".replace(",", ""))
        .endsWith("a b c close a close b close c");
    assertThat(runs)
        .extracting(Run::outcome)
        .containsOnly(new Outcome.Readings(Map.of("time", Collections.nCopies(10, 1.0))));
  }

  /** Tells what happens to it. */
  private record Told(String name, List<String> story) implements InTurns {
    @Override
    public Outcome measure(Trial trial) {
      throw new AssertionError("not to be measured alone");
    }

    @Override
    public Session open(Trial trial) {
      story.add("open " + name);
      return new Session() {
        @Override
        public Outcome window() {
          story.add(name);
          return new Outcome.Readings(Map.of("time", List.of(1.0)));
        }

        @Override
        public void close() {
          story.add("close " + name);
        }
      };
    }
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
