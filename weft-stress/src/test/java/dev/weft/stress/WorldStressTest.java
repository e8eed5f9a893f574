package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Some worlds of {@link WorldStress}. */
@Tag("stress")
@Feature({"S8", "S11", "S15", "S16", "T1", "I1", "Y6", "Y7", "K4", "K5", "K6"})
class WorldStressTest {
  @Test
  @Timeout(300) // longer than the hang limit of a world, so that the report of a hang is shown
  void theInvariantsOfEachWorldHoldAndEachEnds() throws Exception {
    assertThat(WorldStress.run(200, System.nanoTime(), Progress.silent()))
        .as("operations")
        .isGreaterThan(5_000);
  }
}
