package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The short form of {@link WaitQueueStress}; run its main for longer ones. */
@Tag("stress")
@Feature({"Y6", "Y7"})
class WaitQueueStressTest {
  @Test
  void noTokenIsLostWhoeverGivesUp() throws Exception {
    assertThat(WaitQueueStress.run(Duration.ofSeconds(3), System.nanoTime()))
        .as("taken")
        .isGreaterThan(100);
  }
}
