package dev.weft.bench.against;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Contestant;
import dev.weft.bench.model.EntryPoint;
import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Library;
import dev.weft.bench.model.Measurement;
import dev.weft.bench.model.Metric;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Parameter;
import dev.weft.bench.model.Trial;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Makes of each benchmark a comparison of this build of Weft with another commit's. Its contestants
 * are the two builds. The benchmark's contestants of Weft, such as one for each policy, become part
 * of the parameter. The peers are left out: they are the same in both.
 */
public final class Against {
  private final String here;
  private final OtherCommit other;
  private final OptionalDouble atMost;
  private final LinkCheck links;
  private final Recompiled recompiled;
  private final Library library;
  private final List<String> leftOut = new ArrayList<>();

  /**
   * Prepares to compare.
   *
   * @param root this repository
   * @param here what to call this build
   * @param atMost the largest ratio this ÷ that which is good enough, if there is a limit
   */
  public Against(Path root, String here, OtherCommit other, OptionalDouble atMost)
      throws IOException {
    this.here = here;
    this.other = other;
    this.atMost = atMost;
    links = new LinkCheck(other.jars());
    Path classes = Folders.renew(other.folder().resolve("target/benchmarks"));
    recompiled = new Recompiled(root.resolve("weft-bench/src/main/java"), classes);
    library = other.library(classes);
  }

  /**
   * Returns the comparison, unless none of the benchmark's contestants can run on the other build.
   */
  public Optional<Comparison> of(Comparison benchmark) throws IOException {
    List<Contestant> contestants = new ArrayList<>();
    for (Contestant contestant : benchmark.contestants()) {
      if (isOfWeft(benchmark, contestant) && runs(benchmark, contestant)) {
        contestants.add(contestant);
      }
    }
    return contestants.isEmpty() ? Optional.empty() : Optional.of(of(benchmark, contestants));
  }

  /** Returns what was left out so far and why, a line for each. */
  public List<String> leftOut() {
    return List.copyOf(leftOut);
  }

  private static boolean isOfWeft(Comparison benchmark, Contestant contestant) {
    return contestant.name().equals(benchmark.subject()) || contestant.name().startsWith("Weft");
  }

  private boolean runs(Comparison benchmark, Contestant contestant) throws IOException {
    Optional<EntryPoint> entry = contestant.measurement().entryPoint();
    if (entry.isEmpty()) {
      return true;
    }
    List<String> missing = links.missing(entry.get());
    if (missing.isEmpty() || recompiled.add(entry.get().owner(), library.classPath()).isEmpty()) {
      return true;
    }
    leftOut.add(
        "%s, %s: needs %s, which %s lacks"
            .formatted(
                benchmark.name(), contestant.name(), String.join(", ", missing), other.name()));
    return false;
  }

  private Comparison of(Comparison benchmark, List<Contestant> contestants) {
    String that = "that (" + other.name() + ")";
    Parameter parameter = benchmark.parameter();
    Map<String, Case> cases = new LinkedHashMap<>();
    for (Contestant contestant : contestants) {
      for (String value : parameter.values()) {
        String label =
            contestants.size() == 1
                ? value
                : value.isEmpty()
                    ? contestant.name()
                    : contestant.name() + " × " + Parameter.shown(value);
        cases.put(label, new Case(parameter, value, contestant.measurement()));
      }
    }
    String varied = parameter.name();
    if (contestants.size() > 1) {
      varied = varied.isEmpty() ? "contestant" : "contestant × " + varied;
    }
    Comparison.Builder comparison =
        Comparison.named(benchmark.name() + "-against-" + other.name(), benchmark.shows())
            .ratio("this ÷ that")
            .parameter(varied, cases.keySet().toArray())
            .metrics(benchmark.metrics().toArray(Metric[]::new))
            .contestant("this (" + here + ")", Side.of(cases, Optional.empty()))
            .contestant(that, Side.of(cases, Optional.of(library)));
    atMost.ifPresent(limit -> comparison.bar(bar(judged(benchmark), limit, that)));
    return comparison.build();
  }

  /** The metric that the benchmark is about: the first one that Weft has a ratio to keep in. */
  private static Metric judged(Comparison benchmark) {
    return benchmark.bars().stream()
        .filter(bar -> bar.kind() == Bar.Kind.AT_MOST || bar.kind() == Bar.Kind.AT_LEAST)
        .map(Bar::metric)
        .findFirst()
        .orElse(benchmark.metrics().getFirst());
  }

  private static Bar bar(Metric metric, double limit, String that) {
    return metric.better() == Metric.Better.LESS
        ? Bar.atMost(metric, limit, that)
        : Bar.atLeast(metric, 1 / limit, that);
  }

  /** A contestant of Weft's at one value of the benchmark's own parameter. */
  private record Case(Parameter parameter, String value, Measurement measurement) {
    Trial trial(Trial trial, Optional<Library> measured) {
      return trial.at(parameter, value).of(measured.orElse(trial.measured()));
    }
  }

  /** One of the two builds; this one if no library is named. */
  private static class Side implements Measurement {
    private final Map<String, Case> cases;
    private final Optional<Library> library;

    private Side(Map<String, Case> cases, Optional<Library> library) {
      this.cases = cases;
      this.library = library;
    }

    static Measurement of(Map<String, Case> cases, Optional<Library> library) {
      boolean inTurns =
          cases.values().stream().allMatch(each -> each.measurement() instanceof InTurns);
      return inTurns ? new SideInTurns(cases, library) : new Side(cases, library);
    }

    @Override
    public final Outcome measure(Trial trial) throws InterruptedException {
      Case measured = caseOf(trial);
      return measured.measurement().measure(measured.trial(trial, library));
    }

    final Case caseOf(Trial trial) {
      return cases.get(trial.value());
    }
  }

  private static final class SideInTurns extends Side implements InTurns {
    private SideInTurns(Map<String, Case> cases, Optional<Library> library) {
      super(cases, library);
    }

    @Override
    public Session open(Trial trial) throws InterruptedException {
      Case measured = caseOf(trial);
      return ((InTurns) measured.measurement()).open(measured.trial(trial, super.library));
    }
  }
}
