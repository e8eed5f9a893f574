package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A class that no points name, initialized late: that happens in one run, and changes none. */
class LibraryInitializerTest {
  private static final class Library {
    private static final Random RANDOM = new Random();

    static boolean isThere() {
      return RANDOM != null;
    }
  }

  @Test
  @Feature("V2")
  void aClassInitializerUsesUpNoRandomNumbers() {
    Simulation.explore(
            SimulationOptions.seeds(60),
            sim -> {
              if (sim.seed() == 33) { // is run again, and compared
                assertThat(Library.isThere()).isTrue();
              }
              Thread.sleep(new Random().nextInt(1_000)); // the digest of a run has its times
            })
        .check();
  }
}
