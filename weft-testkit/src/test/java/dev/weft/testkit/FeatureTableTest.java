package dev.weft.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.TestResult.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FeatureTableTest {
  private static final List<String> PROMISES =
      """
      # What Weft promises
      | id | Weft promises | origin |
      |---|---|---|
      | C1 | It runs. | sylar |
      | C2 | It stops. | Go |
      | C3 | It flies. | new |
      """
          .lines()
          .toList();

  @Test
  void aRowIsProvedByATestThatPassed() {
    var table = table(result("C1", "dev.weft.RunTest.runs", Outcome.PASSED));

    assertThat(table.merged())
        .containsExactly(
            "# What Weft promises",
            "| id | Weft promises | origin | | tests |",
            "|---|---|---|---|---|",
            "| C1 | It runs. | sylar | ✅ | RunTest.runs |",
            "| C2 | It stops. | Go |  |  |",
            "| C3 | It flies. | new |  |  |");
    assertThat(table.summary()).isEqualTo("features: 1 rows proved, 0 failing, 2 without a test");
    assertThat(table.mistakes()).isEmpty();
  }

  @Test
  void aSingleFailureOutweighsAllPassedTests() {
    var table =
        table(
            result("C1", "a.RunTest.fails[1]", Outcome.FAILED),
            result("C1", "a.RunTest.fails[2]", Outcome.PASSED));

    assertThat(table.merged()).contains("| C1 | It runs. | sylar | ❌ | RunTest.fails |");
    assertThat(table.summary()).startsWith("features: 0 rows proved, 1 failing,");
    assertThat(table.counts()).isEqualTo("1 passed, 1 failed, 0 skipped");
    assertThat(table.mistakes()).containsExactly("FAILED a.RunTest.fails[1]: why");
  }

  @Test
  void aPartialRunHasNoSummary(@TempDir Path root) throws Exception {
    Files.createDirectories(root.resolve("docs"));
    Files.write(root.resolve("docs/features.md"), PROMISES);
    Files.createDirectories(root.resolve("core/target"));
    Files.writeString(
        root.resolve("core/target/features.tsv"),
        result("C1", "a.RunTest.runs", Outcome.PASSED).line() + "\n");

    String counts = "1 passed, 0 failed, 0 skipped\n";
    String program = FeatureTable.class.getName();
    assertThat(Command.java(program, "--some").in(root).run().stdout()).isEqualTo(counts);
    assertThat(Command.java(program).in(root).run().stdout())
        .isEqualTo(counts + "features: 1 rows proved, 0 failing, 2 without a test\n");
  }

  @Test
  void aSkippedTestProvesNothing() {
    var table = table(result("C1", "a.RunTest.runs", Outcome.SKIPPED));

    assertThat(table.summary()).isEqualTo("features: 0 rows proved, 0 failing, 3 without a test");
    assertThat(table.counts()).isEqualTo("0 passed, 0 failed, 1 skipped");
    assertThat(table.skipped()).containsExactly("SKIPPED a.RunTest.runs: why");
    assertThat(table.mistakes()).isEmpty();
  }

  @Test
  void anIdThatNoRowHasIsAMistakeOfTheTest() {
    var table = table(result("C99", "a.RunTest.runs", Outcome.PASSED));

    assertThat(table.mistakes())
        .containsExactly("a.RunTest.runs names feature C99, which docs/features.md does not have");
    assertThat(table.summary()).isEqualTo("features: 0 rows proved, 0 failing, 3 without a test");
  }

  @Test
  void noResultAtAllIsAMistake() {
    assertThat(table().mistakes()).containsExactly("no test was run");
  }

  @Test
  void aTestThatStartedAndDidNotEndHasFailed() {
    var started = result("C1", "a.RunTest.crashes", Outcome.STARTED).as(Outcome.STARTED, "");
    var ended = result("C2", "a.RunTest.runs", Outcome.STARTED).as(Outcome.STARTED, "");
    var journal = List.of(ended.line(), ended.as(Outcome.PASSED, "").line(), started.line());

    assertThat(FeatureTable.ended(journal))
        .containsExactly(
            ended.as(Outcome.PASSED, ""),
            started.as(Outcome.FAILED, "its JVM ended before it did"));
  }

  private static FeatureTable table(TestResult... results) {
    return new FeatureTable(PROMISES, List.of(results));
  }

  private static TestResult result(String feature, String test, Outcome outcome) {
    return new TestResult(List.of(feature), test, outcome, "why");
  }
}
