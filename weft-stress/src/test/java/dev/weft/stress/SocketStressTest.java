package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Some thousand connections of {@link SocketStress}, on both pollers. */
@Tag("stress")
@Feature("I6")
class SocketStressTest {
  @Test
  void aReusedDescriptorNeverGetsAnOldEvent() throws Exception {
    assertThat(SocketStress.run(3_000, 0, Progress.silent())).as("answers").isEqualTo(2_000);
  }
}
