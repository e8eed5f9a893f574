package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Some thousand connections of {@link HookStress}. */
@Tag("stress")
@Feature({"H2", "H4"})
class HookStressTest {
  @Test
  void noAnswerIsWrongAndNoFiberHangs() throws Exception {
    assertThat(HookStress.run(4_000, System.nanoTime(), Progress.silent()))
        .as("answers")
        .isGreaterThan(10_000);
  }
}
