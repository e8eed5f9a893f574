package dev.weft.sim;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Looks for a schedule with fewer switches that fails in the same way, by leaving out switches:
 * halves first, then smaller parts, then single ones (Zeller and Hildebrandt, "Simplifying and
 * Isolating Failure-Inducing Input", 2002). It stops after a number of runs or a time, whichever
 * comes first, and shows the best schedule so far.
 */
final class Shrinker {
  private static final int MOST_RUNS = 2_000;
  private static final int MOST_SEARCH_RUNS = 3_000;

  private final Explorer explorer;
  private final SimulationOptions options;
  private final Duration budget;
  private final long begin = System.nanoTime();
  private final long runsBefore;
  private final long schedules;
  private final Map<Fault, Long> faults;
  private int runs;

  Shrinker(
      Explorer explorer,
      SimulationOptions options,
      Duration budget,
      long runsBefore,
      long schedules,
      Map<Fault, Long> faults) {
    this.explorer = explorer;
    this.options = options;
    this.budget = budget;
    this.runsBefore = runsBefore;
    this.schedules = schedules;
    this.faults = faults;
  }

  FailureReport report(RunResult first) {
    Schedule found = first.schedule();
    Schedule least =
        options.shrinks() && !(first.failure() instanceof SimulationFailure.Endless)
            ? search(shrink(found, first.kind()), first.kind())
            : found;
    RunResult shown = explorer.run(least.seed(), new Choosers.Replay(least), true);
    if (!shown.kind().equals(first.kind())) { // the schedule does not say all: show the seed itself
      least = found;
      shown = explorer.run(first.seed(), new Choosers.Replay(found), true);
    }
    return new FailureReport(
        options.name(),
        first.seed(),
        first.failure() == null ? new AssertionError() : first.failure(),
        found.switches().size(),
        least,
        runs,
        runsBefore,
        schedules,
        faults,
        shown.faults(),
        shown.names(),
        shown.events());
  }

  private boolean isSpent(int mostRuns) {
    return runs >= mostRuns || System.nanoTime() - begin >= budget.toNanos();
  }

  private Schedule shrink(Schedule found, String kind) {
    Schedule best = found;
    for (int chunk = Math.max(1, best.switches().size() / 2); ; chunk = Math.max(1, chunk / 2)) {
      boolean smaller = false;
      List<Integer> indexes = new ArrayList<>(best.switches().keySet());
      for (int end = indexes.size(); end > 0 && !isSpent(MOST_RUNS); end -= chunk) {
        SortedMap<Integer, Integer> left = new TreeMap<>(best.switches());
        left.keySet().removeAll(indexes.subList(Math.max(0, end - chunk), end));
        Schedule tried = attempt(new Schedule(best.seed(), left), kind);
        if (tried != null && tried.switches().size() < best.switches().size()) {
          best = tried;
          smaller = true;
          indexes = new ArrayList<>(best.switches().keySet());
          end = Math.min(end, indexes.size() + chunk);
        }
      }
      if ((chunk == 1 && !smaller) || isSpent(MOST_RUNS)) {
        return best;
      }
    }
  }

  /**
   * Tries all schedules with fewer switches, those with one first (Musuvathi and Qadeer, "Iterative
   * Context Bounding", PLDI 2007), within a number of runs; returns the given one if none fails.
   */
  private Schedule search(Schedule best, String kind) {
    int most = runs + MOST_SEARCH_RUNS;
    List<RunResult> parents = List.of(explorer.run(best.seed(), Choosers.plain(), false));
    for (int size = 1; size < best.switches().size(); size++) {
      List<RunResult> children = new ArrayList<>();
      for (RunResult parent : parents) {
        SortedMap<Integer, Integer> before = parent.schedule().switches();
        int from = before.isEmpty() ? 0 : before.lastKey() + 1;
        for (int at = from; at < parent.decisions().length; at++) {
          for (int fiber = 0; fiber < parent.fibers(); fiber++) {
            if (fiber == parent.chosen(at)) {
              continue;
            }
            if (isSpent(most)) {
              return best;
            }
            runs++;
            SortedMap<Integer, Integer> switches = new TreeMap<>(before);
            switches.put(at, fiber);
            Schedule tried = new Schedule(best.seed(), switches);
            RunResult result = explorer.run(tried.seed(), new Choosers.Replay(tried), false);
            if (result.schedule().switches().size() != size) {
              continue; // that fiber could not go on there
            }
            if (result.failed() && result.kind().equals(kind)) {
              return result.schedule();
            }
            children.add(result);
          }
        }
      }
      parents = children;
    }
    return best;
  }

  /** Returns the schedule as it was really run, if it fails in the same way; else null. */
  private @Nullable Schedule attempt(Schedule schedule, String kind) {
    runs++;
    RunResult result = explorer.run(schedule.seed(), new Choosers.Replay(schedule), false);
    return result.failed() && result.kind().equals(kind) ? result.schedule() : null;
  }
}
