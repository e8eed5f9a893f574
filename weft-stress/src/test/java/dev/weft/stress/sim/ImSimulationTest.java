package dev.weft.stress.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.sim.Fault;
import dev.weft.sim.SimulationResult;
import dev.weft.stress.sim.ImSimulation.End;
import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@link ImSimulation} with a fixed number of seeds; {@code ./weft stress sim-im} runs more. */
@Feature({"V9", "A4"})
@Timeout(180)
class ImSimulationTest {
  private static final int SEEDS = 40;

  private static SimulationResult explore(End end, boolean forces) {
    return ImSimulation.explore(1, SEEDS, end, forces);
  }

  @Test
  void acknowledgedMessagesSurviveAKillOfTheServer() {
    SimulationResult result = explore(End.PROCESS, false);
    result.check();
    assertThat(result.faults().get(Fault.RESET)).isPositive();
    assertThat(result.faults().get(Fault.STALL)).isPositive();
    assertThat(result.faults().get(Fault.CRASH)).isGreaterThan(2 * SEEDS);
    assertThat(result.faults()).doesNotContainKey(Fault.LOST_WRITE);
  }

  /**
   * Of these seeds, the fifth found that a message which was read and lost left its id to another.
   */
  @Test
  void acknowledgedMessagesSurviveAPowerFailure() {
    SimulationResult result = explore(End.POWER, true);
    result.check();
    assertThat(result.faults().get(Fault.CRASH)).isGreaterThan(2 * SEEDS);
    assertThat(result.faults().get(Fault.LOST_WRITE)).isPositive();
  }

  /**
   * Without the server's forces a power failure takes what was acknowledged: the checks can fail.
   */
  @Test
  void aMessageLostByAPowerFailureIsFound() {
    SimulationResult result = explore(End.POWER, false);
    assertThat(result.failure()).isPresent();
    assertThat(result.failure().orElseThrow().faults().get(Fault.LOST_WRITE)).isPositive();
  }

  /**
   * Seed 19 found that H2 had not forced its file and could not open it after a power failure; the
   * other one that the header of a new file was forced with the first change only.
   */
  @Test
  void theFileCanBeOpenedAfterAPowerFailure() {
    for (long seed : new long[] {19, 157_520_874_662L}) {
      ImSimulation.explore(seed, 1, End.POWER, true).check();
    }
    SimulationResult unforced = ImSimulation.explore(19, 1, End.POWER, false);
    assertThat(unforced.failure().orElseThrow().text()).contains("File corrupted");
  }
}
