package dev.weft.sim.bugs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.sim.FailureReport;
import dev.weft.sim.Strategy;
import dev.weft.sim.bugs.programs.KnownBugs;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** The short form of {@link KnownBugsReport}. */
class KnownBugsTest {
  private static final int SEEDS_OF_BROKEN = 2_000;
  private static final int SEEDS_OF_FIXED = 200;

  private static final List<KnownBug> ALL = KnownBugs.ALL;

  @Test
  void theSetHasAtLeastFortyBugsWithDifferentNames() {
    assertThat(ALL)
        .hasSizeGreaterThanOrEqualTo(40)
        .extracting(KnownBug::name)
        .doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @FieldSource("ALL")
  void thePortfolioFindsTheBug(KnownBug bug) {
    assertThat(Simulated.explore(bug.broken(), Strategy.portfolio(), 1, SEEDS_OF_BROKEN).failed())
        .isTrue();
  }

  @ParameterizedTest
  @FieldSource("ALL")
  void theFixedTwinDoesNotFail(KnownBug bug) {
    assertThat(Simulated.explore(bug.fixed(), Strategy.portfolio(), 1, SEEDS_OF_FIXED).failure())
        .map(FailureReport::text)
        .isEmpty();
  }
}
