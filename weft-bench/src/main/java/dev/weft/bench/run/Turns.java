package dev.weft.bench.run;

import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Contestants that take turns: all are up and warm, and have short windows one after the other. The
 * windows of one turn follow each other within a second or two, and each turn starts with another
 * contestant.
 */
final class Turns {
  private static final int QUICK_TURNS = 10;
  private static final int TURNS = 20;

  /** Turns that do not count: code and data warmed up before have to come back to the caches. */
  private static final int SETTLING = 2;

  private Turns() {}

  /** Lets contestants take all turns; readings of a metric at one index are of one turn. */
  static List<Outcome> take(List<? extends InTurns> contestants, Trial trial)
      throws InterruptedException {
    List<InTurns.Session> sessions = new ArrayList<>();
    try {
      for (InTurns contestant : contestants) {
        sessions.add(contestant.open(trial));
      }
      List<Outcome> sofar = new ArrayList<>();
      sessions.forEach(_ -> sofar.add(new Outcome.Readings(Map.of())));
      int turns = trial.pace().quick() ? QUICK_TURNS : TURNS;
      for (int turn = -SETTLING; turn < turns; turn++) {
        for (int i = 0; i < sessions.size(); i++) {
          int next = Math.floorMod(turn + i, sessions.size());
          if (sofar.get(next) instanceof Outcome.Readings before) {
            Outcome window = sessions.get(next).window();
            if (turn >= 0 || window instanceof Outcome.Failure) {
              sofar.set(next, add(before, window));
            }
          }
        }
      }
      return sofar;
    } finally {
      sessions.forEach(InTurns.Session::close);
    }
  }

  private static Outcome add(Outcome.Readings before, Outcome window) {
    if (!(window instanceof Outcome.Readings more)) {
      return window;
    }
    Map<String, List<Double>> all = new HashMap<>();
    more.byMetric()
        .forEach(
            (metric, readings) -> {
              List<Double> longer =
                  new ArrayList<>(before.byMetric().getOrDefault(metric, List.of()));
              longer.addAll(readings);
              all.put(metric, longer);
            });
    return new Outcome.Readings(all);
  }
}
