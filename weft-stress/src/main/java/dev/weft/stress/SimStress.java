package dev.weft.stress;

import dev.weft.sim.SimulationResult;
import dev.weft.stress.sim.OwnHouse;
import dev.weft.stress.sim.OwnProgram;
import java.util.concurrent.atomic.AtomicLong;

/** Runs Weft's own parts in simulations: no schedule breaks what they promise. */
final class SimStress {
  private SimStress() {}

  /** Runs each program with so many seeds; returns how many schedules differed. */
  static long run(long seeds, long seed, Progress progress) {
    long schedules = 0;
    AtomicLong done = new AtomicLong();
    for (OwnProgram program : OwnHouse.ALL) {
      SimulationResult result =
          OwnHouse.explore(
              program,
              Math.floorMod(seed, 1L << 40),
              Math.toIntExact(seeds),
              () -> progress.at(done.incrementAndGet() / OwnHouse.ALL.size()));
      schedules += result.schedules();
      result
          .failure()
          .ifPresent(
              report -> {
                throw new AssertionError(
                    report.text("OwnHouse.replay(\"" + program.name() + "\", \"%s\")"),
                    report.cause());
              });
    }
    return schedules;
  }
}
