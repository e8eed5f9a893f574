package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The short form of {@link RepeatStress}. */
@Tag("stress")
@Feature("V2")
class RepeatStressTest {
  @Test
  void noRunDiffersInAnyJvmUnderLoadOrNot() throws Exception {
    assertThat(RepeatStress.run(2_000, 0, Progress.silent())).isGreaterThan(500);
  }
}
