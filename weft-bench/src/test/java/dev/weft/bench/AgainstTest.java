package dev.weft.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Hook;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedProbe;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.Probe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code --against} in a repository of three commits: a Weft with nothing but a class {@code Hook}
 * that says it is installed, though no scheduler was started; one in which that is an interface;
 * and one that does not compile.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class AgainstTest {
  private static final Metric ANSWER = new Metric(HookProbe.ANSWER, "", Metric.Better.LESS);
  private static final Metric MORE = new Metric(HookProbe.MORE, "", Metric.Better.MORE);

  private static @TempDir Path repository;

  private final BenchRun run = new BenchRun();

  /** Needs what the other Weft lacks. */
  public static final class NeedsMore implements Probe {
    @Override
    public Map<String, Double> measure(String parameter, boolean quick) {
      Hook.disable();
      return Map.of(ANSWER.name(), 1.0);
    }
  }

  @BeforeAll
  static void makeRepository() throws Exception {
    Path root = Path.of(System.getProperty("weft.root"));
    String pom = Files.readString(root.resolve("pom.xml"));
    Files.writeString(
        repository.resolve("pom.xml"), pom.replaceAll("<module>(?!weft-core<).*</module>", ""));
    Files.createDirectories(repository.resolve("weft-core/src/main/java/dev/weft"));
    Files.copy(root.resolve("weft-core/pom.xml"), repository.resolve("weft-core/pom.xml"));
    Files.copy(root.resolve("weft.args"), repository.resolve("weft.args"));
    Files.writeString(
        repository.resolve("weft-core/src/main/java/module-info.java"),
        "module dev.weft { exports dev.weft; }");
    Path benchmarks = repository.resolve("weft-bench/src/main/java/dev/weft/bench");
    Files.createDirectories(benchmarks);
    Files.copy(
        root.resolve("weft-bench/src/test/java/dev/weft/bench/HookProbe.java"),
        benchmarks.resolve("HookProbe.java"));
    git("init", "--quiet");
    commit(
        "good",
        "public final class Hook { private Hook() {} public static boolean isInstalled() { return true; } }");
    commit("interface", "public interface Hook { static boolean isInstalled() { return true; } }");
    commit("bad", "public final class Hook { this is no Java }");
  }

  @Test
  void bothBuildsAreMeasuredAndTheRatioIsThisToThat() throws Exception {
    List<Comparison> suite =
        List.of(
            Comparison.named("turns", "Is measured in turns.")
                .parameter("n", 1, 2)
                .metrics(ANSWER, MORE)
                .contestant("Weft", ForkedWindows.of(HookProbe.InTurns.class))
                .contestant("Weft, otherwise", ForkedWindows.of(HookProbe.InTurns.class, "-Dx=y"))
                .contestant("peer", ForkedWindows.of(HookProbe.InTurns.class))
                .build(),
            Comparison.named("once", "Is measured once.")
                .metrics(ANSWER)
                .contestant("first", ForkedProbe.of(HookProbe.class))
                .contestant("peer", ForkedProbe.of(HookProbe.class))
                .build());

    assertThat(bench(suite, "--against", "good", "--quick", "--rounds", "1"))
        .as(this::err)
        .isZero();

    String name = shortName("good");
    assertThat(out())
        .contains("turns-against-" + name, "once-against-" + name, "this ÷ that")
        .contains("Weft × 1", "Weft × 2", "Weft, otherwise × 1", "Weft, otherwise × 2")
        .doesNotContain("peer")
        .containsPattern("this \\(" + shortName("HEAD") + ".*\\) +4\\.00")
        .containsPattern(
            "that \\(" + name + "\\) +2\\.00 +2\\.00–2\\.00 +2\\.00 \\[2\\.00–2\\.00]");
    for (String extension : List.of("json", "svg", "log")) {
      assertThat(repository.resolve("target/bench/turns-against-" + name + "." + extension))
          .exists();
    }

    // the bar judges the first metric; and the build of the first run is used again
    run.forgetErrors();
    assertThat(bench(suite, "once", "--against", "good", "--rounds", "1", "--at-most", "1.9"))
        .isEqualTo(1);
    assertThat(out()).contains("≤ 1.90 ×  MISSED");
    assertThat(bench(suite, "once", "--against", "good", "--rounds", "1", "--at-most", "2"))
        .as(this::err)
        .isZero();
    assertThat(err()).doesNotContain("building");
  }

  @Test
  void aBenchmarkThatDoesNotLinkIsCompiledAgainstTheOtherCommit() throws Exception {
    List<Comparison> suite =
        List.of(
            Comparison.named("shape", "Calls a class that is an interface there.")
                .metrics(ANSWER)
                .contestant("Weft", ForkedProbe.of(HookProbe.class))
                .build());

    assertThat(bench(suite, "--against", "interface", "--rounds", "1")).as(this::err).isZero();
    assertThat(out()).containsPattern("that .* 2\\.00");
    assertThat(err()).doesNotContain("left out");
  }

  @Test
  void whereMoreIsBetterTheBarIsTurnedRound() throws Exception {
    List<Comparison> suite =
        List.of(
            Comparison.named("more", "Is better if it is more.")
                .metrics(MORE)
                .contestant("Weft", ForkedProbe.of(HookProbe.class))
                .build());

    assertThat(bench(suite, "--against", "good", "--rounds", "1", "--at-most", "1.03"))
        .as(this::err)
        .isZero();
    assertThat(out()).contains("≥ 0.97 ×  met");
  }

  @Test
  void aBenchmarkThatNeedsMoreThanTheOtherCommitHasIsLeftOutByName() throws Exception {
    Comparison needsMore =
        Comparison.named("needs-more", "Needs more.")
            .metrics(ANSWER)
            .contestant("Weft", ForkedProbe.of(NeedsMore.class))
            .build();
    Comparison both =
        Comparison.named("both", "Can be run in part.")
            .metrics(ANSWER)
            .contestant("Weft", ForkedProbe.of(HookProbe.class))
            .contestant("Weft, more", ForkedProbe.of(NeedsMore.class))
            .build();
    String reason = ": needs Hook.disable(), which " + shortName("good") + " lacks";

    assertThat(bench(List.of(both), "--against", "good", "--rounds", "1")).as(this::err).isZero();
    assertThat(err()).contains("weft bench: left out: both, Weft, more" + reason);
    assertThat(out()).containsPattern("this .* 4\\.00").doesNotContain("Weft, more");

    assertThat(bench(List.of(needsMore), "--against", "good", "--rounds", "1")).isEqualTo(2);
    assertThat(err())
        .contains("left out: needs-more, Weft" + reason)
        .contains("nothing is left to measure against " + shortName("good"));
  }

  @Test
  void aCommitThatDoesNotBuildIsSaidAndLeavesNothing() throws Exception {
    assertThat(bench(List.of(), "--against", "bad")).isEqualTo(2);

    assertThat(err())
        .contains("weft bench: " + shortName("bad") + " does not build: weft-core/src/main/java")
        .contains("Hook.java:", "; the full log is in ");
    try (Stream<Path> left = Files.list(repository.resolve("target/against"))) {
      assertThat(left.filter(file -> Files.isDirectory(file)).map(Path::getFileName).toList())
          .isSubsetOf(
              Path.of(git("rev-parse", "good").strip()),
              Path.of(git("rev-parse", "interface").strip()));
    }
  }

  @Test
  void aCommitThatIsNotThereIsSaid() throws Exception {
    assertThat(bench(List.of(), "--against", "1234567")).isEqualTo(2);
    assertThat(bench(List.of(), "--against", "--help")).isEqualTo(2);

    assertThat(err().lines())
        .hasSize(2)
        .allMatch(line -> line.startsWith("weft bench: "))
        .first()
        .asString()
        .contains("git knows no commit '1234567' here");
  }

  @Test
  void withoutARepositoryThereIsNoOtherCommit(@TempDir Path empty) throws Exception {
    Files.copy(repository.resolve("weft.args"), empty.resolve("weft.args"));

    assertThat(run.bench(empty, List.of(), "--against", "HEAD")).isEqualTo(2);
    assertThat(err()).contains("--against needs git and its repository");
  }

  @Test
  void wrongUseIsSaid() throws Exception {
    assertThat(bench(List.of(), "--at-most", "1.03")).isEqualTo(2);
    assertThat(bench(List.of(), "--against", "HEAD", "--check")).isEqualTo(2);
    assertThat(bench(List.of(), "--against", "HEAD", "--at-most", "0")).isEqualTo(2);

    assertThat(err().lines())
        .containsExactly(
            "weft bench: --at-most limits the ratio to another commit: it needs --against REF",
            "weft bench: --check is for bars against peers; with --against it is --at-most RATIO",
            "weft bench: --at-most must be more than 0, not 0.0");
  }

  private int bench(List<Comparison> suite, String... args) throws InterruptedException {
    return run.bench(repository, suite, args);
  }

  private static void commit(String tag, String hook) throws Exception {
    Files.writeString(
        repository.resolve("weft-core/src/main/java/dev/weft/Hook.java"),
        "package dev.weft;\n" + hook + "\n");
    git("add", "--all");
    git(
        "-c",
        "user.name=Weft",
        "-c",
        "user.email=weft@localhost",
        "commit",
        "--quiet",
        "--message",
        tag);
    git("tag", tag);
  }

  private static String shortName(String ref) throws Exception {
    return git("rev-parse", "--short", ref).strip();
  }

  private static String git(String... arguments) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of("git", "-C", repository.toString()));
    words.addAll(List.of(arguments));
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }

  private String out() {
    return run.out();
  }

  private String err() {
    return run.err();
  }
}
