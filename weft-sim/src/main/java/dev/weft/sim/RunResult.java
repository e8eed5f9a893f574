package dev.weft.sim;

import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What came of one run.
 *
 * @param failure what failed; null: nothing
 * @param digest a digest of all choices and times
 * @param decisions each choice: how many fibers could go on (the upper half), and the number of the
 *     chosen one
 * @param sites the site of each choice; -1: a fiber waited or ended
 * @param fibers how many fibers there were
 * @param switches the choices that were not the usual ones: index and number, in turn
 * @param faults how often each kind of fault happened
 * @param events what happened, if it was recorded
 */
@SuppressWarnings(
    "ArrayRecordComponent") // results are not compared, and the arrays are not changed
record RunResult(
    long seed,
    @Nullable Throwable failure,
    long digest,
    long[] decisions,
    int[] sites,
    int[] switches,
    int fibers,
    long steps,
    long virtualNanos,
    Map<Fault, Long> faults,
    List<TraceEvent> events,
    List<String> names) {
  /** What a step of a trace is. */
  record TraceEvent(long nanos, int fiber, String what, String place) {}

  /** Returns the number of the fiber that a choice chose. */
  int chosen(int decision) {
    return (int) decisions[decision];
  }

  boolean failed() {
    return failure != null;
  }

  Schedule schedule() {
    SortedMap<Integer, Integer> map = new TreeMap<>();
    for (int i = 0; i < switches.length; i += 2) {
      map.put(switches[i], switches[i + 1]);
    }
    return new Schedule(seed, map);
  }

  /**
   * Returns what kind of failure it is: a shrunk schedule must fail in the same way. The line of
   * the program tells failures apart; all assertions throw from the same line of their library.
   */
  String kind() {
    Throwable cause = failure;
    if (cause == null) {
      return "none";
    }
    StackTraceElement frame = cause instanceof SimulationFailure ? null : Where.programFrame(cause);
    return cause.getClass().getName() + (frame == null ? "" : " at " + frame);
  }
}
