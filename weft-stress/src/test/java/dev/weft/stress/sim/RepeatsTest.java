package dev.weft.stress.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@link Repeats} in this JVM; in several: {@code ./weft stress sim-repeats}. */
@Feature("V2")
class RepeatsTest {
  private static List<String> digests(long firstSeed) {
    List<String> lines = new ArrayList<>();
    Repeats.digests(1, firstSeed, lines::add);
    return lines;
  }

  @Test
  void theDigestsAreThoseOfTheSeed() {
    List<String> one = digests(1);
    assertThat(one).hasSize(Repeats.programCount());
    assertThat(digests(1)).isEqualTo(one);
    assertThat(digests(1_000)).isNotEqualTo(one);
  }
}
