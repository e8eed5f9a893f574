package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.internal.Faults;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StressTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final List<String> runs = new ArrayList<>();
  private final LongRun good =
      new LongRun(
          "good",
          "finds nothing",
          5,
          "tries",
          "looks",
          (amount, seed, progress) -> ran("good", amount, seed));
  private final LongRun bad =
      new LongRun(
          "bad",
          "finds something",
          7,
          "tries",
          "looks",
          (amount, seed, progress) -> {
            ran("bad", amount, seed);
            throw new AssertionError("lost");
          });

  @Test
  void allRunsHaveTheirDefaultAmountUnlessGiven() throws InterruptedException {
    assertThat(stress("--seed", "3")).isEqualTo(1);
    assertThat(runs).containsExactly("good 5 3", "bad 7 3");
  }

  @Test
  void namedRunsHaveTheGivenAmount() throws InterruptedException {
    assertThat(stress("good=1_000", "--seed", "3")).isZero();
    assertThat(runs).containsExactly("good 1000 3");
    assertThat(out()).contains("good: nothing found; 1,000 looks");
  }

  @Test
  void aFaultIsReportedWithTheCommandThatRepeatsIt() throws InterruptedException {
    assertThat(stress("bad=2", "good", "--seed", "3")).isEqualTo(1);
    assertThat(out())
        .contains("AssertionError: lost", "bad found a fault: lost")
        .endsWith("repeat with: ./weft stress bad=2 --seed 3\n");
    assertThat(runs).containsExactly("bad 2 3");
  }

  @Test
  void aFaultThatWeftHasNoticedItselfIsReported() throws InterruptedException {
    LongRun noticed =
        new LongRun(
            "noticed",
            "a fault is only counted",
            1,
            "tries",
            "looks",
            (amount, seed, progress) -> Faults.record("made up").length());
    try {
      assertThat(new Stress(List.of(noticed), print(out), print(err)).run()).isEqualTo(1);
    } finally {
      Faults.forget(1);
    }
    assertThat(out()).contains("noticed found a fault: Weft has noticed 1 faults of its own");
  }

  @Test
  void aMistakeIsReportedInOneLine() throws InterruptedException {
    assertThat(stress("worse")).isEqualTo(2);
    assertThat(stress("good=much")).isEqualTo(2);
    assertThat(stress("good=0")).isEqualTo(2);
    assertThat(stress("--fast")).isEqualTo(2);
    assertThat(err().lines())
        .containsExactly(
            "weft stress: there is no worse; there are good, bad",
            "weft stress: good takes a number of tries, as in good=5, not much",
            "weft stress: good takes a number of tries, as in good=5, not 0",
            "weft stress: Unknown option: '--fast'; the options are --seed N, --list, --help");
    assertThat(runs).isEmpty();
  }

  @Test
  void theHelpIsWhatTheLauncherPrintsWithoutABuild() throws Exception {
    assertThat(stress("--help")).isZero();
    assertThat(Path.of(System.getProperty("weft.root"), "bin/help/stress.txt")).hasContent(out());
  }

  @Test
  void theListHasALineForEachRun() throws InterruptedException {
    assertThat(stress("--list")).isZero();
    assertThat(out().lines())
        .containsExactly(
            "good        finds nothing; 5 tries", "bad         finds something; 7 tries");
  }

  private long ran(String name, long amount, long seed) {
    runs.add(name + " " + amount + " " + seed);
    return amount;
  }

  private int stress(String... args) throws InterruptedException {
    return new Stress(List.of(good, bad), print(out), print(err)).run(args);
  }

  private static PrintStream print(ByteArrayOutputStream to) {
    return new PrintStream(to, true, StandardCharsets.UTF_8);
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }
}
