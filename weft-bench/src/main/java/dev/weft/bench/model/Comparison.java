package dev.weft.bench.model;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A benchmark: contestants that do the same work, Weft first, and the bars Weft has to keep.
 *
 * @param name its name in {@code ./weft bench}
 * @param shows one sentence about what it shows
 * @param ratio the name of the ratio of the first contestant to another one
 */
public record Comparison(
    String name,
    String shows,
    String ratio,
    Parameter parameter,
    List<Metric> metrics,
    List<Contestant> contestants,
    List<Bar> bars) {

  public Comparison {
    metrics = List.copyOf(metrics);
    contestants = List.copyOf(contestants);
    bars = List.copyOf(bars);
    Set<String> names = new HashSet<>();
    for (Contestant contestant : contestants) {
      require(names.add(contestant.name()), name, "has two contestants " + contestant.name());
    }
    require(!contestants.isEmpty() && !metrics.isEmpty(), name, "needs a contestant and a metric");
    Set<String> judged = new HashSet<>();
    for (Bar bar : bars) {
      require(names.contains(bar.peer()), name, "has a bar against a stranger: " + bar.peer());
      require(metrics.contains(bar.metric()), name, "has no metric " + bar.metric().name());
      require(
          judged.add(bar.metric().name() + " " + bar.peer()),
          name,
          "has two bars at " + bar.peer());
    }
  }

  /** Starts to describe a comparison; it measures {@link Metric#TIME} unless told otherwise. */
  public static Builder named(String name, String shows) {
    return new Builder(name, shows);
  }

  /** Returns Weft's name, the contestant that the others are compared with. */
  public String subject() {
    return contestants.getFirst().name();
  }

  /** Says whether the contestants take turns: then the readings of one turn belong together. */
  public boolean inTurns() {
    return contestants.stream().allMatch(contestant -> contestant.measurement() instanceof InTurns);
  }

  /** Returns how many trials a round has. */
  public int trialsPerRound() {
    return contestants.size() * parameter.values().size();
  }

  private static void require(boolean condition, String name, String problem) {
    if (!condition) {
      throw new IllegalArgumentException("comparison " + name + " " + problem);
    }
  }

  /** Collects the parts of a comparison. */
  public static final class Builder {
    private final String name;
    private final String shows;
    private String ratio = "Weft ÷ it";
    private Parameter parameter = Parameter.NONE;
    private List<Metric> metrics = List.of(Metric.TIME);
    private final List<Contestant> contestants = new ArrayList<>();
    private final List<Bar> bars = new ArrayList<>();

    private Builder(String name, String shows) {
      this.name = name;
      this.shows = shows;
    }

    /** Names the ratio of the first contestant to another one. */
    public Builder ratio(String called) {
      ratio = called;
      return this;
    }

    /** Varies the parameter over the values. */
    public Builder parameter(String parameterName, Object... values) {
      parameter = new Parameter(parameterName, Stream.of(values).map(String::valueOf).toList());
      return this;
    }

    /** Measures these instead of the time. */
    public Builder metrics(Metric... measured) {
      metrics = List.of(measured);
      return this;
    }

    /** Adds a contestant; the first one is Weft. */
    public Builder contestant(String contestantName, Measurement measurement) {
      contestants.add(new Contestant(contestantName, measurement));
      return this;
    }

    /** Adds a bar. */
    public Builder bar(Bar bar) {
      bars.add(bar);
      return this;
    }

    /** Returns the comparison. */
    public Comparison build() {
      return new Comparison(name, shows, ratio, parameter, metrics, contestants, bars);
    }
  }
}
