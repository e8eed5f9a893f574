package dev.weft.stress;

import dev.weft.sim.SimulationResult;
import dev.weft.stress.sim.ImSimulation;
import dev.weft.stress.sim.OwnHouse;
import dev.weft.stress.sim.OwnProgram;
import dev.weft.stress.sim.WebSimulation;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Runs Weft's own parts in simulations: no schedule breaks what they promise. */
final class SimStress {
  private SimStress() {}

  /**
   * Runs each program with so many seeds, half of them with timers that fire early; returns how
   * many schedules differed.
   */
  static long run(long seeds, long seed, Progress progress) {
    long schedules = 0;
    AtomicLong done = new AtomicLong();
    long firstSeed = Math.floorMod(seed, 1L << 40);
    int early = Math.toIntExact(seeds / 2);
    int usual = Math.toIntExact(seeds - early);
    Runnable afterSeed = () -> progress.at(done.incrementAndGet() / OwnHouse.ALL.size());
    for (OwnProgram program : OwnHouse.ALL) {
      SimulationResult result = OwnHouse.explore(program, firstSeed, usual, afterSeed);
      schedules += checked(result, "OwnHouse.replay(\"" + program.name() + "\", \"%s\")");
    }
    for (OwnProgram program : early == 0 ? List.<OwnProgram>of() : OwnHouse.WITH_EARLY_TIMERS) {
      SimulationResult result =
          OwnHouse.exploreWithEarlyTimers(program, firstSeed, early, afterSeed);
      schedules +=
          checked(result, "OwnHouse.replayWithEarlyTimers(\"" + program.name() + "\", \"%s\")");
    }
    return schedules;
  }

  /** Runs the web server with so many seeds; returns how many schedules differed. */
  static long runWeb(long seeds, long seed, Progress progress) {
    return run(WebSimulation::explore, "WebSimulation.replay(\"%s\")", seeds, seed, progress);
  }

  /** Runs the messaging server with so many seeds; returns how many schedules differed. */
  static long runIm(long seeds, long seed, Progress progress) {
    return run(ImSimulation::explore, "ImSimulation.replay(\"%s\")", seeds, seed, progress);
  }

  private interface Exploration {
    SimulationResult explore(long firstSeed, int seeds, Runnable afterSeed);
  }

  private static long run(
      Exploration exploration, String replay, long seeds, long seed, Progress progress) {
    AtomicLong done = new AtomicLong();
    return checked(
        exploration.explore(
            Math.floorMod(seed, 1L << 40),
            Math.toIntExact(seeds),
            () -> progress.at(done.incrementAndGet())),
        replay);
  }

  /** Returns how many schedules differed, if no run has failed. */
  private static long checked(SimulationResult result, String replay) {
    result
        .failure()
        .ifPresent(
            report -> {
              throw new AssertionError(report.text(replay), report.cause());
            });
    return result.schedules();
  }
}
