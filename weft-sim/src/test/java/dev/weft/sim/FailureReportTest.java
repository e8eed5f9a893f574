package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The report of a failure, as text, JSON and a page; schedules as text. */
@Feature("V4")
class FailureReportTest {
  private static final class Flags {
    boolean one;
    boolean two;
  }

  private static FailureReport report() {
    return Simulation.explore(
            SimulationOptions.seeds(1_000).name("<flags>").points("dev.weft.sim.FailureReportTest"),
            sim -> {
              Flags flags = new Flags();
              boolean[] both = new boolean[1];
              Thread first =
                  new Thread(
                      () -> {
                        flags.one = true;
                        both[0] |= flags.two;
                      },
                      "first \"quoted\"");
              Thread second =
                  new Thread(
                      () -> {
                        flags.two = true;
                        both[0] |= flags.one;
                        Thread.yield();
                        flags.two = false;
                      },
                      "second");
              first.start();
              second.start();
              first.join();
              second.join();
              if (both[0] && flags.one && !flags.two) {
                throw new AssertionError("a & b < c");
              }
            })
        .failure()
        .orElseThrow();
  }

  @Test
  void theReportIsTextAndJsonAndAPage() {
    FailureReport report = report();
    assertThat(report.text("./weft sim --replay '%s'"))
        .contains("replay: ./weft sim --replay 'seed:" + report.seed() + "'")
        .contains("the shrunk run: ./weft sim --replay '" + report.schedule() + "'");
    assertThat(report.json())
        .contains("\"name\": \"<flags>\"")
        .contains("\"seed\": " + report.seed())
        .contains("\"first \\\"quoted\\\"\"")
        .contains("\"failure\": \"a & b < c\"");
    assertThat(report.html())
        .contains("<title>&lt;flags&gt; fails with seed " + report.seed())
        .contains("a &amp; b &lt; c")
        .contains("<th class=lane>main<th class=lane>first &quot;quoted&quot;<th class=lane>second")
        .doesNotContain("<flags>");
  }

  @Test
  void aScheduleIsReadAsItIsWritten() {
    TreeMap<Integer, Integer> switches = new TreeMap<>();
    switches.put(17, 0);
    switches.put(3, 12);
    Schedule schedule = new Schedule(42, switches);
    assertThat(schedule).hasToString("schedule:42/3>12,17>0");
    assertThat(Schedule.parse("schedule:42/3>12,17>0")).isEqualTo(schedule);
    assertThat(Schedule.parse("schedule:7/").switches()).isEmpty();
    for (String wrong : new String[] {"", "42", "schedule:42", "schedule:x/1>2", "schedule:1/2"}) {
      assertThatThrownBy(() -> Schedule.parse(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("must look like");
    }
  }
}
