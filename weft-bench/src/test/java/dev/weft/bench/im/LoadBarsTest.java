package dev.weft.bench.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.bench.im.LoadBars.Verdict;
import java.time.Duration;
import java.util.List;
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

  @Test
  void twoNodesAreJudgedBeforeOneIsKilled() {
    assertThat(missed(LoadBars.ofTwoNodes(phase("two nodes", 150, 1000, 0), 1000)))
        .containsExactly("99 % in ms, two nodes");
  }
}
