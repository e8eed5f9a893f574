package dev.weft.sim;

import java.util.List;

/**
 * How a simulation chooses which fiber goes on. No strategy finds every bug soonest, so the default
 * is a {@linkplain #portfolio portfolio} of all.
 */
public sealed interface Strategy {
  /** Chooses evenly among the fibers that can go on, at every point. */
  static Strategy walk() {
    return new Walk(0);
  }

  /** Chooses evenly, but only where the running fiber waits, yields or ends. */
  static Strategy blockingOnly() {
    return new BlockingOnly();
  }

  /**
   * Probabilistic concurrency testing: fibers have random priorities, and at {@code depth} - 1
   * random points the running fiber falls behind all others. Burckhardt and others, "A Randomized
   * Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010.
   */
  static Strategy pct(int depth) {
    if (depth < 1) {
      throw new IllegalArgumentException("depth must be 1 or more, not " + depth);
    }
    return new Pct(depth);
  }

  /**
   * Partial order sampling: each pending operation has a random priority, drawn anew when an
   * operation that conflicts with it is done. Yuan, Yang and Gu, "Partial Order Aware Concurrency
   * Sampling", CAV 2018.
   */
  static Strategy pos() {
    return new Pos();
  }

  /** Does what a schedule says; where it says nothing, fibers run until they wait. */
  static Strategy replay(Schedule schedule) {
    return new Replay(schedule);
  }

  /** Takes turns: each seed uses one of several strategies. */
  static Strategy portfolio() {
    return new Portfolio(
        List.of(
            new Walk(0),
            new Pct(2),
            new Pos(),
            new BlockingOnly(),
            new Walk(0),
            new Pct(3),
            new Walk(8),
            new Pct(4)));
  }

  /**
   * A random walk.
   *
   * @param oneIn 0: chooses at every point; else at one point in so many on average
   */
  record Walk(int oneIn) implements Strategy {}

  /** Choices where fibers wait. */
  record BlockingOnly() implements Strategy {}

  /** Priorities with few changes. */
  record Pct(int depth) implements Strategy {}

  /** Priorities of operations. */
  record Pos() implements Strategy {}

  /** A recorded schedule. */
  record Replay(Schedule schedule) implements Strategy {}

  /** One of several by seed. */
  record Portfolio(List<Strategy> strategies) implements Strategy {}
}
