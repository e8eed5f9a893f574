package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Some trees of {@link ScopeStress}. */
@Tag("stress")
@Feature({"X1", "X2", "X3", "X4", "S27"})
class ScopeStressTest {
  @Test
  @Timeout(300) // longer than the hang limit of a tree, so that the report of a hang is shown
  void noFiberOutlivesItsScope() throws Exception {
    assertThat(ScopeStress.run(3_000, System.nanoTime(), Progress.silent()))
        .as("fibers")
        .isGreaterThan(3_000);
  }
}
