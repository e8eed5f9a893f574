package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A million transfers of {@link ChannelStress}. */
@Tag("stress")
@Feature({"K1", "K4", "K5", "K6", "K8", "K9"})
class ChannelStressTest {
  @Test
  void noValueIsLostAndNoneIsDuplicated() throws Exception {
    assertThat(ChannelStress.run(1_000_000, System.nanoTime(), Progress.silent()))
        .as("calls that gave up")
        .isPositive();
  }
}
