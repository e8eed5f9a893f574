package dev.weft.sim;

import dev.weft.sim.Chooser.Choice;
import dev.weft.sim.Chooser.Moment;
import dev.weft.sim.agent.Sites;
import dev.weft.sim.agent.Sites.Site;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** The strategies at work: see {@link Strategy} for what each does. */
final class Choosers {
  private Choosers() {}

  /**
   * Returns a chooser for the run of a seed. Seed 0 is the plain run, without a switch.
   *
   * @param steps how many choices the plain run has
   */
  static Chooser of(Strategy strategy, long seed, int steps) {
    if (seed == 0 && !(strategy instanceof Strategy.Replay)) {
      return plain();
    }
    return switch (strategy) {
      case Strategy.Walk walk -> new Walk(seed, walk.oneIn());
      case Strategy.BlockingOnly b -> new BlockingOnly(seed);
      case Strategy.Pct pct -> new Pct(seed, pct.depth(), steps);
      case Strategy.Pos p -> new Pos(seed);
      case Strategy.Replay replay -> new Replay(replay.schedule());
      case Strategy.Portfolio portfolio -> {
        List<Strategy> all = portfolio.strategies();
        yield of(all.get((int) Math.floorMod(seed, (long) all.size())), seed, steps);
      }
    };
  }

  /** Returns a chooser for a run without a switch. */
  static Chooser plain() {
    return new Replay(new Schedule(0, new TreeMap<>()));
  }

  private static final class Walk extends Chooser {
    private final SplittableRandom random;
    private final int oneIn;

    Walk(long seed, int oneIn) {
      this.random = new SplittableRandom(seed);
      this.oneIn = oneIn;
    }

    @Override
    int choose(Choice choice) {
      if (choice.moment == Moment.POINT && oneIn > 0 && random.nextInt(oneIn) != 0) {
        return choice.current;
      }
      return random.nextInt(choice.count);
    }
  }

  private static final class BlockingOnly extends Chooser {
    private final SplittableRandom random;

    BlockingOnly(long seed) {
      this.random = new SplittableRandom(seed);
    }

    @Override
    int choose(Choice choice) {
      return choice.moment == Moment.POINT ? choice.current : random.nextInt(choice.count);
    }
  }

  /** Priorities, with changes at few steps. */
  private static final class Pct extends Chooser {
    private final SplittableRandom random;
    private final int[] changes;
    private int step;
    private long lowest = -1;

    Pct(long seed, int depth, int steps) {
      this.random = new SplittableRandom(seed);
      this.changes = new int[depth - 1];
      int range = Math.max(2, steps + steps / 2); // with switches a run may have more choices
      for (int i = 0; i < changes.length; i++) {
        changes[i] = 1 + random.nextInt(range);
      }
    }

    @Override
    void begun(Lane lane) {
      lane.priority = random.nextLong() >>> 1;
    }

    @Override
    int choose(Choice choice) {
      step++;
      Lane current = choice.currentLane();
      if (current != null && (choice.moment == Moment.YIELD || isChange())) {
        current.priority = lowest--;
      }
      return highest(choice);
    }

    private boolean isChange() {
      for (int change : changes) {
        if (change == step) {
          return true;
        }
      }
      return false;
    }
  }

  private static final class Pos extends Chooser {
    private final SplittableRandom random;
    private long lowest = -1;

    Pos(long seed) {
      this.random = new SplittableRandom(seed);
    }

    private long priority() {
      return random.nextLong() >>> 1;
    }

    @Override
    void begun(Lane lane) {
      lane.priority = priority();
    }

    @Override
    int choose(Choice choice) {
      Lane current = choice.currentLane();
      if (current != null && choice.moment == Moment.YIELD) {
        current.priority = lowest--; // below all: others run before it spins again
      }
      int chosen = highest(choice);
      Lane doing = choice.ready[chosen];
      for (int i = 0; i < choice.count; i++) {
        if (i != chosen && conflict(doing, choice.ready[i])) {
          choice.ready[i].priority = priority();
        }
      }
      doing.priority = priority(); // of its next operation
      return chosen;
    }

    /** Returns whether the pending operations of two fibers may not be swapped. */
    private static boolean conflict(Lane one, Lane other) {
      Site first = Sites.get(one.site);
      Site second = Sites.get(other.site);
      return first != null
          && second != null
          && (first.writes() || second.writes())
          && one.owner == other.owner
          && first.target().equals(second.target());
    }
  }

  /** Does what a schedule says, else the usual. */
  static final class Replay extends Chooser {
    private final Schedule schedule;

    Replay(Schedule schedule) {
      this.schedule = schedule;
    }

    @Override
    int choose(Choice choice) {
      Integer wanted = schedule.switches().get(choice.index);
      int index = wanted == null ? -1 : choice.indexOf(wanted);
      return index < 0 ? choice.usual() : index;
    }
  }

  private static int highest(Choice choice) {
    int best = 0;
    for (int i = 1; i < choice.count; i++) {
      if (choice.ready[i].priority > choice.ready[best].priority) {
        best = i;
      }
    }
    return best;
  }
}
