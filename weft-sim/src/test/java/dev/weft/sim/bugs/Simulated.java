package dev.weft.sim.bugs;

import dev.weft.Body;
import dev.weft.sim.FailureReport;
import dev.weft.sim.Simulation;
import dev.weft.sim.SimulationOptions;
import dev.weft.sim.SimulationResult;
import dev.weft.sim.Strategy;
import dev.weft.sim.bugs.programs.KnownBugs;
import java.util.Optional;

/** Programs of the set under the simulation. */
final class Simulated {
  private Simulated() {}

  /** Runs a program for so many seeds, or until it fails. */
  static SimulationResult explore(Body program, Strategy strategy, long firstSeed, int seeds) {
    return Simulation.explore(options(firstSeed, seeds).strategy(strategy), _ -> program.run());
  }

  /** Returns the report of the first seed that fails, with its schedule shrunk. */
  static Optional<FailureReport> shrunk(KnownBug bug, int seeds) {
    return Simulation.explore(options(1, seeds).shrinks(true), _ -> bug.broken().run()).failure();
  }

  /** Returns options with points in the programs; they do not shrink. */
  static SimulationOptions options(long firstSeed, int seeds) {
    return SimulationOptions.seeds(seeds)
        .firstSeed(firstSeed)
        .points(KnownBugs.class.getPackageName())
        .shrinks(false);
  }
}
