package dev.weft.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * How to explore a program. Each method returns a changed copy.
 *
 * @param name what the report calls the program
 * @param seeds how many seeds to run
 * @param firstSeed the first seed
 * @param points the packages, or classes, whose operations are points where a fiber may stop
 * @param strategy how fibers are chosen
 * @param maxSteps after how many slices and points a run counts as endless
 * @param shrinks whether to look for a smaller schedule that fails in the same way
 * @param timersEarly whether timers may fire although fibers can go on, by the seed
 */
public record SimulationOptions(
    String name,
    int seeds,
    long firstSeed,
    List<String> points,
    Strategy strategy,
    long maxSteps,
    boolean shrinks,
    boolean timersEarly) {
  static final long MAX_STEPS = 100_000;

  /** Checks and copies. */
  public SimulationOptions {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(strategy, "strategy");
    points = List.copyOf(points);
    if (seeds < 1) {
      throw new IllegalArgumentException("seeds must be 1 or more, not " + seeds);
    }
    if (maxSteps < 1) {
      throw new IllegalArgumentException("maxSteps must be 1 or more, not " + maxSteps);
    }
  }

  /** Returns options that run so many seeds, from 1 on, with the portfolio of strategies. */
  public static SimulationOptions seeds(int seeds) {
    return new SimulationOptions(
        "simulation", seeds, 1, List.of(), Strategy.portfolio(), MAX_STEPS, true, false);
  }

  /**
   * Returns options that replay one run.
   *
   * @param text {@code seed:42}, or a {@link Schedule} as text
   */
  public static SimulationOptions replay(String text) {
    SimulationOptions once = seeds(1);
    if (text.startsWith("seed:")) {
      try {
        return once.firstSeed(Long.parseLong(text.substring("seed:".length())));
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("'" + text + "' must look like seed:42", e);
      }
    }
    Schedule schedule = Schedule.parse(text);
    return once.firstSeed(schedule.seed()).strategy(Strategy.replay(schedule)).shrinks(false);
  }

  /** Sets the name. */
  public SimulationOptions name(String newName) {
    return new SimulationOptions(
        newName, seeds, firstSeed, points, strategy, maxSteps, shrinks, timersEarly);
  }

  /** Sets the first seed. */
  public SimulationOptions firstSeed(long seed) {
    return new SimulationOptions(
        name, seeds, seed, points, strategy, maxSteps, shrinks, timersEarly);
  }

  /** Adds packages, or classes, whose operations are points. */
  public SimulationOptions points(String... packages) {
    List<String> all = new ArrayList<>(points);
    all.addAll(List.of(packages));
    return new SimulationOptions(
        name, seeds, firstSeed, all, strategy, maxSteps, shrinks, timersEarly);
  }

  /** Sets the strategy. */
  public SimulationOptions strategy(Strategy newStrategy) {
    return new SimulationOptions(
        name, seeds, firstSeed, points, newStrategy, maxSteps, shrinks, timersEarly);
  }

  /** Sets after how many slices and points a run counts as endless. */
  public SimulationOptions maxSteps(long steps) {
    return new SimulationOptions(
        name, seeds, firstSeed, points, strategy, steps, shrinks, timersEarly);
  }

  /** Sets whether to shrink a failing schedule. */
  public SimulationOptions shrinks(boolean shrink) {
    return new SimulationOptions(
        name, seeds, firstSeed, points, strategy, maxSteps, shrink, timersEarly);
  }

  /**
   * Sets whether timers may fire although fibers can go on. Without it time moves only when all
   * fibers wait, so a timeout never races the computation that it waits for.
   */
  public SimulationOptions timersEarly(boolean early) {
    return new SimulationOptions(
        name, seeds, firstSeed, points, strategy, maxSteps, shrinks, early);
  }
}
