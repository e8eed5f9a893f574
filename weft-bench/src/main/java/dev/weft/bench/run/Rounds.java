package dev.weft.bench.run;

import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Contestant;
import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Library;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Run;
import dev.weft.bench.model.Trial;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Runs every contestant once a round, each in a fresh JVM, one right after the other or, if they
 * can, in {@link Turns}: a slow minute of the machine then slows all of them. Each round starts
 * with another contestant, so that none always runs on the warmer machine.
 */
public final class Rounds {
  private final int rounds;
  private final Library library;
  private final Progress progress;

  /** Prepares to run this many rounds with a build of Weft. */
  public Rounds(int rounds, Library library, Progress progress) {
    this.rounds = rounds;
    this.library = library;
    this.progress = progress;
  }

  /** Runs all rounds of a comparison at a pace. */
  public List<Run> run(Comparison comparison, Trial.Pace pace, PrintStream log)
      throws InterruptedException {
    List<Run> runs = new ArrayList<>();
    for (int round = 1; round <= rounds; round++) {
      for (String value : comparison.parameter().values()) {
        Trial trial = new Trial(comparison.parameter(), value, pace, library, log);
        List<Contestant> order = inOrderOf(round, comparison.contestants());
        log.printf("%n## round %d, %s%n", round, value);
        List<Outcome> outcomes =
            comparison.inTurns()
                ? inTurns(comparison, order, trial)
                : oneByOne(comparison, order, trial);
        for (int i = 0; i < order.size(); i++) {
          runs.add(new Run(round, value, order.get(i).name(), outcomes.get(i)));
        }
      }
    }
    return runs;
  }

  private List<Outcome> oneByOne(Comparison comparison, List<Contestant> order, Trial trial)
      throws InterruptedException {
    List<Outcome> outcomes = new ArrayList<>();
    for (Contestant contestant : order) {
      progress.next(comparison.name() + ", " + contestant.name());
      trial.log().println("## " + contestant.name());
      outcomes.add(contestant.measurement().measure(trial));
      progress.done();
    }
    return outcomes;
  }

  private List<Outcome> inTurns(Comparison comparison, List<Contestant> order, Trial trial)
      throws InterruptedException {
    progress.next(comparison.name() + ", all in turns");
    List<Outcome> outcomes =
        Turns.take(
            order.stream().map(contestant -> (InTurns) contestant.measurement()).toList(), trial);
    order.forEach(_ -> progress.done());
    return outcomes;
  }

  static <T> List<T> inOrderOf(int round, List<T> contestants) {
    List<T> order = new ArrayList<>(contestants);
    Collections.rotate(order, 1 - round);
    return order;
  }
}
