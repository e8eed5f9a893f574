package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The short form of {@link SchedulerStress}. */
@Tag("stress")
@Feature({"S1", "S5", "S7", "S8", "S15", "S23"})
class SchedulerStressTest {
  @Test
  void someRoundsWithANewSeed() throws Exception {
    assertThat(SchedulerStress.run(10, System.nanoTime(), Progress.silent()))
        .as("operations")
        .isGreaterThan(1_000);
  }
}
