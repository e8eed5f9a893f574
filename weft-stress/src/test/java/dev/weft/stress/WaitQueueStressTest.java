package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The short form of {@link WaitQueueStress}. */
@Tag("stress")
@Feature({"Y6", "Y7"})
class WaitQueueStressTest {
  @Test
  void noTokenIsLostWhenWaitersGiveUp() throws Exception {
    assertThat(WaitQueueStress.run(3, System.nanoTime(), Progress.silent()))
        .as("taken")
        .isGreaterThan(100);
  }
}
