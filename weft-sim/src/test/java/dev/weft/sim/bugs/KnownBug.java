package dev.weft.sim.bugs;

import dev.weft.Body;
import java.util.Locale;

/**
 * A known concurrency bug as a small program, and its fixed twin: a program that does the same work
 * correctly. Both fail by an exception or hang; neither needs weak memory, since a simulation runs
 * one fiber at a time.
 *
 * @param name the name of the class that holds both programs
 * @param source the set that the idea comes from, and its id there
 * @param kind what goes wrong
 * @param broken fails under some schedules
 * @param fixed fails under none
 */
public record KnownBug(String name, String source, Kind kind, Body broken, Body fixed) {
  /** What goes wrong. */
  public enum Kind {
    /** Steps that belong together are interleaved with those of another fiber. */
    ATOMICITY,
    /** A step runs before the step that it relies on. */
    ORDER,
    /** A signal comes before the waiter, or wakes the wrong waiter. */
    LOST_WAKE_UP,
    /** Fibers wait for each other's locks, permits or threads. */
    DEADLOCK,
    /** A message, a close or a cancel meets a partner that has left. */
    COMMUNICATION;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /** Creates the bug that a class holds. */
  public static KnownBug of(Class<?> holder, String source, Kind kind, Body broken, Body fixed) {
    return new KnownBug(holder.getSimpleName(), source, kind, broken, fixed);
  }

  @Override
  public String toString() {
    return name;
  }
}
