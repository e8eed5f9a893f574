package dev.weft.bench.im;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What a load must keep to, beside losing nothing: latency and memory.
 *
 * <p>A phase is quiet if nothing but the load goes on. What an attack does is compared with the
 * best quiet phase, as a program that warms up would make a bad first one easy to keep to.
 */
final class LoadBars {
  private static final double QUIET_MILLIS = 100;

  /** How much longer than in a quiet phase it may take under attack. */
  private static final double ATTACK_RATIO = 2;

  /**
   * Below this a ratio decides nothing, and is only reported: nobody notices, and one pause of the
   * collector or of another process causes as much. See docs/decisions/0086.
   */
  private static final double FLOOR_MILLIS = 20;

  private static final double HEAP_OF_CLIENT = 12 * 1024;

  /** The heap is limited to as much; the attacks are to leave it far from full. */
  private static final double RESIDENT_MB = 1024;

  private static final double LEAST_OF_ASKED = 0.95;

  /**
   * A bar and what was measured.
   *
   * @param what was measured, with its unit
   * @param atMost whether the limit is the highest value that keeps it, else the lowest
   */
  record Verdict(String what, double measured, double limit, boolean atMost) {
    boolean isMet() {
      return atMost ? measured <= limit : measured >= limit;
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%-50s %,12.1f  %s %,.1f  %s",
          what,
          measured,
          atMost ? "≤" : "≥",
          limit,
          isMet() ? "met" : "MISSED");
    }
  }

  /**
   * How much longer it took under an attack than in the best quiet phase, whatever the bar.
   *
   * @param attack the name of its phase
   */
  record Slowdown(String attack, double ratio) {
    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%-50s %,12.2f  %s",
          "99 % ÷ quiet, " + attack,
          ratio,
          ratio <= ATTACK_RATIO ? "at most doubled" : "more than doubled");
    }
  }

  private LoadBars() {}

  /** Returns what each attack did to the others' latency. */
  static List<Slowdown> slowdowns(List<Phase> quiet, List<Phase> attacks) {
    double best = bestOf(quiet);
    return attacks.stream()
        .map(phase -> new Slowdown(phase.name(), phase.millis(99) / best))
        .toList();
  }

  private static double bestOf(List<Phase> quiet) {
    return quiet.stream().mapToDouble(phase -> phase.millis(99)).min().orElse(0);
  }

  /** Judges a load on one node, with attacks. */
  static List<Verdict> ofOneNode(
      List<Phase> quiet, List<Phase> attacks, double deliveriesAsked, long heapOfClient) {
    List<Verdict> verdicts = new ArrayList<>();
    addQuiet(verdicts, quiet, deliveriesAsked);
    double limit = Math.max(FLOOR_MILLIS, ATTACK_RATIO * bestOf(quiet));
    for (Phase phase : attacks) {
      String what = "99 % in ms, " + phase.name();
      verdicts.add(new Verdict(what, phase.millis(99), limit, true));
    }
    for (Phase phase : attacks) {
      String what = "resident MB, " + phase.name();
      verdicts.add(new Verdict(what, phase.residentBytes() >> 20, RESIDENT_MB, true));
    }
    verdicts.add(new Verdict("live heap a client in bytes", heapOfClient, HEAP_OF_CLIENT, true));
    return verdicts;
  }

  /** Judges a load on two nodes, before one of them is killed. */
  static List<Verdict> ofTwoNodes(Phase quiet, double deliveriesAsked) {
    List<Verdict> verdicts = new ArrayList<>();
    addQuiet(verdicts, List.of(quiet), deliveriesAsked);
    return verdicts;
  }

  private static void addQuiet(List<Verdict> verdicts, List<Phase> quiet, double asked) {
    for (Phase phase : quiet) {
      verdicts.add(
          new Verdict("99 % in ms, " + phase.name(), phase.millis(99), QUIET_MILLIS, true));
      verdicts.add(
          new Verdict(
              "deliveries/s, " + phase.name(), phase.perSecond(), LEAST_OF_ASKED * asked, false));
    }
  }
}
