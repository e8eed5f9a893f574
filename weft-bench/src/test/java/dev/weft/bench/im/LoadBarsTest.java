package dev.weft.bench.im;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.weft.bench.im.LoadBars.Slowdown;
import dev.weft.bench.im.LoadBars.Verdict;
import dev.weft.bench.report.Environment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** What a load must keep to. */
class LoadBarsTest {
  private static Phase phase(String name, double millis, int perSecond, long residentMb) {
    Histogram latency = LoadClient.Totals.histogram();
    latency.recordValue((long) (millis * 1e6));
    return new Phase(
        name, Duration.ofSeconds(1), perSecond, latency, List.of(millis), 1, residentMb << 20);
  }

  private static List<String> missed(List<Verdict> verdicts) {
    return verdicts.stream().filter(verdict -> !verdict.isMet()).map(Verdict::what).toList();
  }

  private static List<Verdict> judge(Phase quiet, Phase again, Phase attack, long heap) {
    return LoadBars.ofOneNode(List.of(quiet, again), List.of(attack), 1000, heap);
  }

  @Test
  void allBarsCanBeMet() {
    assertThat(
            missed(
                judge(
                    phase("quiet", 50, 1000, 300),
                    phase("again", 40, 960, 300),
                    phase("bombs", 75, 1000, 900),
                    12_000)))
        .isEmpty();
  }

  @Test
  void eachBarCanBeMissed() {
    assertThat(
            missed(
                judge(
                    phase("quiet", 120, 1000, 300),
                    phase("again", 40, 900, 300),
                    phase("bombs", 90, 1000, 1100),
                    13_000)))
        .containsExactly(
            "99 % in ms, quiet",
            "deliveries/s, again",
            "99 % in ms, bombs",
            "resident MB, bombs",
            "live heap a client in bytes");
  }

  /** Twice next to nothing is next to nothing. */
  @Test
  void aRatioOfShortTimesSaysNothing() {
    Phase quiet = phase("quiet", 1, 1000, 300);
    assertThat(missed(judge(quiet, quiet, phase("bombs", 19, 1000, 300), 12_000))).isEmpty();
    assertThat(missed(judge(quiet, quiet, phase("bombs", 25, 1000, 300), 12_000)))
        .containsExactly("99 % in ms, bombs");
  }

  /** Also below the floor: a reader has to see what the bar lets pass. */
  @Test
  void theRatioIsToldWhateverTheBar() {
    List<Phase> quiet = List.of(phase("quiet", 8, 1000, 300), phase("again", 2, 1000, 300));
    List<Phase> attacks = List.of(phase("logins", 3, 1000, 300), phase("bombs", 19, 1000, 300));
    List<Slowdown> slowdowns = LoadBars.slowdowns(quiet, attacks);
    assertThat(slowdowns).extracting(Slowdown::attack).containsExactly("logins", "bombs");
    assertThat(slowdowns.get(0).ratio()).isCloseTo(1.5, within(0.1));
    assertThat(slowdowns.get(1).ratio()).isCloseTo(9.5, within(0.1));
    assertThat(slowdowns.get(0)).asString().endsWith("at most doubled");
    assertThat(slowdowns.get(1)).asString().contains("bombs", "9.").endsWith("more than doubled");
    assertThat(missed(LoadBars.ofOneNode(quiet, attacks, 1000, 12_000))).isEmpty();
    LoadReport report =
        new LoadReport(
            "name", "title", Map.of(), attacks, List.of(), Map.of(), List.of(), slowdowns,
            List.of());
    assertThat(report.text()).contains(slowdowns.get(1).toString());
    assertThat(report.json(Environment.here("", List.of(), "", 1, true)))
        .contains("millis99DividedByQuiet")
        .containsPattern("\"bombs\": 9[.][45]");
  }

  @Test
  void twoNodesAreJudgedBeforeOneIsKilled() {
    assertThat(missed(LoadBars.ofTwoNodes(phase("two nodes", 150, 1000, 0), 1000)))
        .containsExactly("99 % in ms, two nodes");
  }
}
