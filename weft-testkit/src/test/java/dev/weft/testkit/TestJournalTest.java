package dev.weft.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.TestResult.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestJournalTest {
  @TempDir private Path folder;

  @Test
  void eachTestIsWrittenWithItsFeatures() throws Exception {
    String mixed = HiddenTests.Mixed.class.getName();

    assertThat(journalOf(HiddenTests.Mixed.class))
        .extracting(TestResult::test, TestResult::outcome, TestResult::features)
        .containsExactlyInAnyOrder(
            tuple(mixed + ".passes", Outcome.PASSED, "C1", "C2"),
            tuple(mixed + ".fails", Outcome.FAILED, "C1"),
            tuple(mixed + ".skipped", Outcome.SKIPPED, "C1"),
            tuple(mixed + ".aborted", Outcome.SKIPPED, "C1"),
            tuple(mixed + ".twice[[1] \"x\"]", Outcome.PASSED, "C1"),
            tuple(mixed + ".twice[[2] \"?\"]", Outcome.PASSED, "C1"),
            tuple(mixed + "$Inner.inherits", Outcome.PASSED, "C1", "C3"));
  }

  @Test
  void aFailureCarriesItsMessage() throws Exception {
    assertThat(journalOf(HiddenTests.Mixed.class))
        .filteredOn(result -> result.outcome() == Outcome.FAILED)
        .singleElement()
        .extracting(TestResult::message)
        .asString()
        .contains("[one] expected: 2 but was: 1 (HiddenTests.java:");
  }

  @Test
  void aClassThatCannotStartHasFailed() throws Exception {
    assertThat(journalOf(HiddenTests.NeverStarts.class))
        .singleElement()
        .satisfies(
            result -> {
              assertThat(result.test()).isEqualTo(HiddenTests.NeverStarts.class.getName());
              assertThat(result.outcome()).isEqualTo(Outcome.FAILED);
              assertThat(result.message()).contains("no server (HiddenTests.java:");
            });
  }

  @Test
  void aClassThatCannotRunHereIsSkippedAndSaysWhy() throws Exception {
    assertThat(journalOf(HiddenTests.NotHere.class))
        .singleElement()
        .satisfies(
            result -> {
              assertThat(result.test()).isEqualTo(HiddenTests.NotHere.class.getName());
              assertThat(result.outcome()).isEqualTo(Outcome.SKIPPED);
              assertThat(result.message()).contains("no server here");
            });
  }

  @Test
  void allTestsOfADisabledClassAreSkipped() throws Exception {
    assertThat(journalOf(HiddenTests.Off.class))
        .extracting(TestResult::outcome)
        .containsExactly(Outcome.SKIPPED, Outcome.SKIPPED);
  }

  private List<TestResult> journalOf(Class<?> tests) throws Exception {
    Path file = folder.resolve("features.tsv");
    Command.java("-Dweft.features.out=" + file, HiddenTests.class.getName(), tests.getName()).run();
    return FeatureTable.ended(Files.readAllLines(file));
  }

  private static Tuple tuple(String test, Outcome outcome, String... features) {
    return Tuple.tuple(test, outcome, List.of(features));
  }
}
