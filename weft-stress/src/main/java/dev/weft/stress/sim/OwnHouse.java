package dev.weft.stress.sim;

import dev.weft.sim.Simulation;
import dev.weft.sim.SimulationOptions;
import dev.weft.sim.SimulationResult;
import java.util.List;
import java.util.stream.Stream;

/** Runs the programs over Weft's own parts in simulations. */
public final class OwnHouse {
  /** The packages and classes of Weft that have points: what runs in fibers. */
  private static final String[] POINTS = {
    "dev.weft.stress.sim", "dev.weft.channel", "dev.weft.sync", "dev.weft.internal"
  };

  /** All programs. */
  public static final List<OwnProgram> ALL =
      Stream.of(
              ChannelPrograms.ALL,
              SelectPrograms.ALL,
              LockPrograms.ALL,
              ScopePrograms.ALL,
              TimerPrograms.ALL)
          .flatMap(List::stream)
          .toList();

  private OwnHouse() {}

  static String[] points() {
    return POINTS.clone();
  }

  /** Runs a program with so many seeds, or until it fails. */
  public static SimulationResult explore(OwnProgram program, long firstSeed, int seeds) {
    return explore(program, firstSeed, seeds, () -> {});
  }

  /** Runs a program with so many seeds, or until it fails, and calls back after each. */
  public static SimulationResult explore(
      OwnProgram program, long firstSeed, int seeds, Runnable afterSeed) {
    return Simulation.explore(
        SimulationOptions.seeds(seeds).firstSeed(firstSeed).name(program.name()).points(POINTS),
        simulation -> program.body().run(),
        (runs, schedules, digest) -> afterSeed.run());
  }

  /** Repeats one run of a program, as a report names it. */
  public static SimulationResult replay(String name, String run) {
    OwnProgram program = named(name);
    return Simulation.explore(
        SimulationOptions.replay(run).name(name).points(POINTS),
        simulation -> program.body().run());
  }

  /** Returns a program by its name. */
  public static OwnProgram named(String name) {
    return ALL.stream()
        .filter(program -> program.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no program " + name));
  }
}
