package dev.weft.sim;

import java.util.Map;
import java.util.stream.Collectors;

/**
 * A kind of fault that a simulation injects. Every report says how often each kind happened that
 * the program has asked for; a kind that never happened is there with 0, because a test under
 * faults that do not happen proves nothing.
 */
public enum Fault {
  /** A crash lost a write to a file that was not forced. */
  LOST_WRITE("lost write", "lost writes"),
  /** A crash left some sectors of a write that was not forced. */
  TORN_WRITE("torn write", "torn writes"),
  /** A crash undid a truncation, or a growth, of a file that was not forced. */
  LOST_RESIZE("lost change of size", "lost changes of size"),
  /** A crash undid the creation of a name whose directory was not forced. */
  LOST_CREATION("lost creation", "lost creations"),
  /** A crash undid a rename in a directory that was not forced. */
  LOST_RENAME("lost rename", "lost renames"),
  /** A crash brought back a deleted name whose directory was not forced. */
  LOST_DELETION("lost deletion", "lost deletions"),
  /** A write failed because the disk was full. */
  FULL_DISK("write to a full disk", "writes to a full disk"),
  /** A connection was reset. */
  RESET("reset", "resets"),
  /** A segment of a connection was late, as after the loss of a packet. */
  STALL("stall", "stalls"),
  /** A datagram was lost. */
  LOSS("lost datagram", "lost datagrams"),
  /** A datagram overtook an earlier one. */
  REORDERING("reordered datagram", "reordered datagrams"),
  /** An attempt to connect was refused, though the port is listened at. */
  REFUSAL("refusal", "refusals"),
  /** A partition held up, or swallowed, what was sent. */
  PARTITION("send across a partition", "sends across a partition"),
  /** A host crashed. */
  CRASH("crash", "crashes"),
  /** A connection to a host that has crashed stayed silent. */
  SILENCE("silent connection", "silent connections"),
  /** The time of day was read from a clock with an offset. */
  CLOCK_OFFSET("look at a clock that is off", "looks at a clock that is off"),
  /** A time was read, or waited for, by a clock that drifts. */
  CLOCK_DRIFT("use of a clock that drifts", "uses of a clock that drifts"),
  /** A timer fired although a fiber could go on. */
  EARLY_TIMER("early timer", "early timers");

  private final String one;
  private final String many;

  Fault(String one, String many) {
    this.one = one;
    this.many = many;
  }

  /** Returns a number of faults in words. */
  String times(long count) {
    return "%,d %s".formatted(count, count == 1 ? one : many);
  }

  /** Returns numbers of faults in words, or an empty text. */
  static String describe(Map<Fault, Long> counts) {
    return counts.entrySet().stream()
        .map(entry -> entry.getKey().times(entry.getValue()))
        .collect(Collectors.joining(", "));
  }
}
