package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Test;

/** The page of {@code ./weft top}, of figures as a process sends them. */
@Feature("O1")
class TopPageTest {
  private static final String PROCESS = "process\t1000000000\t0\t0\t64\t200\n";
  private static final String SCHEDULER = "scheduler\tjobs\t1\t2\t3\t4\t5\t6\t100\t79\t0";

  private static String page(String figures) {
    TopFigures now = TopFigures.parse(figures);
    return String.join("\n", new TopPage(4711, SystemFigures.none(), null, now, "cpu").lines());
  }

  @Test
  @Feature("S28")
  void fibersThatAreSetApartAreTold() {
    assertThat(page(PROCESS + SCHEDULER + "\t7\n"))
        .contains(
            "scheduler jobs  21 fibers: 1 ready, 2 running, 3 sleeping, 4 waiting, 5 blocking,"
                + " 6 awaiting a helper (7 of them set apart); ");
    assertThat(page(PROCESS + SCHEDULER + "\t0\n")).doesNotContain("apart");
  }

  @Test
  void theFiguresOfAnOlderProcessAreUnderstood() {
    assertThat(page(PROCESS + SCHEDULER + "\n")).contains("21 fibers: ").doesNotContain("apart");
  }

  @Test
  void schedulersOfOneNameHaveRatesOfTheirOwn() {
    String before = PROCESS + scheduler(1, 1_000) + scheduler(2, 50);
    String now =
        PROCESS.replace("1000000000", "2000000000") + scheduler(1, 1_007) + scheduler(2, 53);
    TopPage page =
        new TopPage(
            4711, SystemFigures.none(), TopFigures.parse(before), TopFigures.parse(now), "cpu");
    assertThat(page.lines())
        .filteredOn(line -> line.startsWith("scheduler jobs"))
        .satisfiesExactly(
            line -> assertThat(line).endsWith("; 7/s begun"),
            line -> assertThat(line).endsWith("; 3/s begun"));
  }

  private static String scheduler(int id, int begun) {
    return SCHEDULER.replace("\t100\t", "\t" + begun + "\t") + "\t0\t" + id + "\n";
  }

  /** Of very many fibers the rows stay those of before for a while when another order is wanted. */
  @Test
  void theOrderThatTheRowsHaveIsTold() {
    assertThat(page(PROCESS.replace("\n", "\twait\n"))).contains("(by wait)");
    assertThat(page(PROCESS)).contains("(by cpu)");
  }

  @Test
  void theAgeOfOldCountsIsTold() {
    String old = SCHEDULER.replaceFirst("0$", "4711");
    assertThat(page(PROCESS + old + "\t0\n")).contains("counted 4 s ago");
  }
}
