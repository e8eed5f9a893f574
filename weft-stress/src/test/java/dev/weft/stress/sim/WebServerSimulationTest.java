package dev.weft.stress.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.sim.Fault;
import dev.weft.sim.SimulationResult;
import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@link WebSimulation} with a fixed number of seeds; {@code ./weft stress sim-web} runs more. */
@Feature({"V9", "A2"})
@Timeout(120)
class WebServerSimulationTest {
  private static final int SEEDS = 150;

  @Test
  void everyAnswerBelongsToItsRequestUnderFaults() {
    SimulationResult result = WebSimulation.explore(1, SEEDS, () -> {});
    result.check();
    assertThat(result.faults())
        .containsKeys(Fault.RESET, Fault.STALL, Fault.REFUSAL, Fault.CRASH, Fault.PARTITION)
        .allSatisfy((fault, count) -> assertThat(count).as(fault.name()).isPositive());
  }

  /** A handler that keeps its answer where others see it: the checks can fail. */
  @Test
  void aHandlerThatSharesItsAnswerIsFound() {
    String[] shared = new String[1];
    SimulationResult result =
        WebSimulation.explore(
            1,
            SEEDS,
            () -> {},
            id -> {
              shared[0] = id;
              Thread.sleep(1);
              return shared[0];
            });
    assertThat(result.failure()).isPresent();
    assertThat(result.failure().orElseThrow().text()).contains("the answer to");
  }
}
