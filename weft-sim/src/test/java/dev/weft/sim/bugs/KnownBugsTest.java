package dev.weft.sim.bugs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.sim.FailureReport;
import dev.weft.sim.Schedule;
import dev.weft.sim.Strategy;
import dev.weft.sim.bugs.programs.KnownBugs;
import dev.weft.testkit.Feature;
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

  /**
   * A program that passes when every fiber runs until it waits needs at least one switch to fail;
   * others need none. That is a lower bound, so a bug counted as badly shrunk may need more.
   */
  @Test
  @Feature("V4")
  void shrunkSchedulesHaveAtMostOneSwitchMoreThanTheBugNeeds() {
    List<String> longer =
        ALL.stream()
            .filter(bug -> switchesWhenShrunk(bug) > leastSwitches(bug) + 1)
            .map(KnownBug::name)
            .toList();
    assertThat(longer).hasSizeLessThanOrEqualTo(ALL.size() / 10);
  }

  private static int leastSwitches(KnownBug bug) {
    Strategy plain = Strategy.replay(Schedule.parse("schedule:1/"));
    return Simulated.explore(bug.broken(), plain, 1, 1).failed() ? 0 : 1;
  }

  private static int switchesWhenShrunk(KnownBug bug) {
    return Simulated.shrunk(bug, SEEDS_OF_BROKEN).orElseThrow().schedule().switches().size();
  }
}
