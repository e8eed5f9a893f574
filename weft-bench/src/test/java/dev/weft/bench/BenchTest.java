package dev.weft.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.run.JmhMethod;
import dev.weft.bench.suite.CreateBenchmark;
import dev.weft.bench.suite.Suite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class BenchTest {
  private final BenchRun run = new BenchRun();
  private @TempDir Path root;

  @BeforeEach
  void copyFlags() throws IOException {
    Files.copy(Path.of(System.getProperty("weft.root"), "weft.args"), root.resolve("weft.args"));
  }

  @Test
  void anUnknownNameIsToldInOneLineWithTheKnownOnes() throws InterruptedException {
    assertThat(bench(Suite.all(), "swich", "create")).isEqualTo(2);
    assertThat(err())
        .startsWith("weft bench: there is no benchmark swich; there are switch, create, generator,")
        .contains(Suite.all().stream().map(Comparison::name).toList())
        .hasLineCount(1);
  }

  @Test
  void aWrongOptionIsToldInOneLineWithTheRightOnes() throws InterruptedException {
    assertThat(bench(Suite.all(), "--fast")).isEqualTo(2);
    assertThat(bench(Suite.all(), "--rounds", "many")).isEqualTo(2);
    assertThat(bench(Suite.all(), "--rounds", "0")).isEqualTo(2);
    assertThat(err().lines())
        .containsExactly(
            "weft bench: Unknown option: '--fast';"
                + " the options are --quick, --rounds N, --check, --against REF, --at-most RATIO,"
                + " --page, --list, --help",
            "weft bench: Invalid value for option '--rounds': 'many' is not an int;"
                + " the options are --quick, --rounds N, --check, --against REF, --at-most RATIO,"
                + " --page, --list, --help",
            "weft bench: --rounds must be at least 1, not 0");
  }

  @Test
  void theLoadOnTheMessagingServerHasOptionsOfItsOwn() throws InterruptedException {
    assertThat(bench(Suite.all(), "im-load", "--fast")).isEqualTo(2);
    assertThat(err())
        .isEqualTo(
            "im-load: Unknown option: '--fast'; ./weft bench im-load --help lists the options\n");
    assertThat(bench(Suite.all(), "im-load", "--help")).isZero();
    assertThat(out()).contains("--clients", "--deliveries", "--nodes");
  }

  @Test
  void missingFlagsAreToldInOneLine() throws Exception {
    Files.delete(root.resolve("weft.args"));

    assertThat(bench(Suite.all(), "create")).isEqualTo(2);
    assertThat(err()).startsWith("weft bench: there is no weft.args in ").hasLineCount(1);
  }

  @Test
  void theHelpIsWhatTheLauncherPrintsWithoutABuild() throws Exception {
    assertThat(bench(Suite.all(), "--help")).isZero();
    assertThat(Path.of(System.getProperty("weft.root"), "bin/help/bench.txt")).hasContent(out());
  }

  @Test
  void listNamesEachWithASentence() throws InterruptedException {
    assertThat(bench(Suite.all(), "--list")).isZero();
    assertThat(out().lines()).hasSameSizeAs(Suite.all()).allMatch(line -> line.endsWith("."));
  }

  @Test
  void namesAreUnique() {
    List<String> names = Suite.all().stream().map(Comparison::name).toList();
    assertThat(new HashSet<>(names)).hasSameSizeAs(names);
  }

  @Test
  void aMissedBarMattersToCheckOnly() throws InterruptedException {
    List<Comparison> slow =
        List.of(
            Comparison.named("slow", "Is twice as slow.")
                .contestant("Weft", trial -> time(2))
                .contestant("peer", trial -> time(1))
                .bar(Bar.atMost(Metric.TIME, 1.9, "peer"))
                .build());

    assertThat(bench(slow, "--rounds", "1")).isZero();
    assertThat(bench(slow, "--rounds", "1", "--check")).isEqualTo(1);
    assertThat(out()).contains("≤ 1.90 ×  MISSED");
  }

  @Test
  void checkNamesTheBarsThatItCouldNotCheck() throws InterruptedException {
    List<Comparison> absent =
        List.of(
            Comparison.named("race", "Runs.")
                .parameter("laps", 1_000)
                .contestant("Weft", trial -> time(2))
                .contestant("Go", trial -> new Outcome.Failure("needs Go", true))
                .bar(Bar.atMost(Metric.TIME, 1, "Go"))
                .build());

    assertThat(bench(absent, "--rounds", "1")).isZero();
    assertThat(err()).doesNotContain("not checked");
    assertThat(bench(absent, "--rounds", "1", "--check")).isZero();
    assertThat(err())
        .contains("weft bench: not checked: race laps 1,000, time, Go ≤ 1.00 ×: needs Go");
    assertThat(out()).contains("needs Go").contains("≤ 1.00 ×  not checked");
  }

  @Test
  void aPeerThatFailsIsNoReasonToPass() throws InterruptedException {
    List<Comparison> broken =
        List.of(
            Comparison.named("race", "Runs.")
                .contestant("Weft", trial -> time(2))
                .contestant("Go", trial -> new Outcome.Failure("crashed"))
                .bar(Bar.atMost(Metric.TIME, 1, "Go"))
                .build());

    assertThat(bench(broken, "--rounds", "1", "--check")).isEqualTo(1);
    assertThat(err()).contains("weft bench: not checked: race, time, Go ≤ 1.00 ×: crashed");
  }

  @Test
  void thePageHasTheResultsThatThereAreAndMeasuresNothing() throws InterruptedException {
    Comparison done =
        Comparison.named("done", "Was run.").contestant("Weft", trial -> time(1)).build();
    Comparison other =
        Comparison.named("other", "Was not.").contestant("Weft", trial -> time(1)).build();
    bench(List.of(done, other), "done", "--rounds", "1");
    AtomicInteger measured = new AtomicInteger();
    Comparison again =
        Comparison.named("done", "Was run.")
            .contestant("Weft", trial -> time(measured.incrementAndGet()))
            .build();

    assertThat(bench(List.of(again, other), "--page")).isZero();

    assertThat(measured).hasValue(0);
    assertThat(root.resolve("docs/numbers.md"))
        .content()
        .contains("## done")
        .doesNotContain("## other");
    assertThat(root.resolve("docs/img/done.svg")).exists();
  }

  @Test
  void thePageKeepsTheResultsOfEarlierPages() throws Exception {
    Comparison old =
        Comparison.named("old", "Was run.").contestant("Weft", trial -> time(1)).build();
    Comparison young =
        Comparison.named("young", "Is run.").contestant("Weft", trial -> time(1)).build();
    List<Comparison> suite = List.of(old, young);
    bench(suite, "old", "--rounds", "1");
    bench(suite, "--page");
    try (Stream<Path> results = Files.list(root.resolve("target/bench"))) {
      for (Path result : results.toList()) {
        Files.delete(result); // as in a fresh clone
      }
    }
    bench(suite, "young", "--rounds", "1");

    assertThat(bench(suite, "--page")).isZero();

    assertThat(root.resolve("docs/numbers.md")).content().contains("## old", "## young");
  }

  @Test
  void endToEnd() throws InterruptedException {
    List<Comparison> suite =
        List.of(
            Comparison.named("life", "Lives.")
                .contestant("Weft", new JmhMethod(CreateBenchmark.class, "weft"))
                .contestant("none", new JmhMethod(CreateBenchmark.class, "missing"))
                .build());

    assertThat(bench(suite, "life", "--quick", "--rounds", "1")).isZero();

    assertThat(out())
        .containsPattern("Weft +[0-9.,]+ ")
        .contains("JMH knows no CreateBenchmark.missing");
    assertThat(root.resolve("target/bench/life.log")).content().contains("# Fork: 1 of 1");
    assertThat(root.resolve("target/bench/life.svg")).content().contains("</svg>");
    assertThat(root.resolve("target/bench/life.json"))
        .content()
        .contains("\"commandLine\": \"./weft bench life --quick --rounds 1\"");
  }

  private static Outcome time(double nanoseconds) {
    return new Outcome.Readings(Map.of(Metric.TIME.name(), List.of(nanoseconds)));
  }

  private int bench(List<Comparison> suite, String... args) throws InterruptedException {
    return run.bench(root, suite, args);
  }

  private String out() {
    return run.out();
  }

  private String err() {
    return run.err();
  }
}
