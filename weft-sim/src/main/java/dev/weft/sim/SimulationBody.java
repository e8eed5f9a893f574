package dev.weft.sim;

/** What a simulation runs, once for each seed. */
@FunctionalInterface
public interface SimulationBody {
  /** Runs the program; a failure of any kind makes the run fail. */
  void run(Simulation simulation) throws Exception;
}
