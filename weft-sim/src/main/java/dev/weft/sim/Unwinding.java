package dev.weft.sim;

import java.util.concurrent.locks.LockSupport;

/**
 * How the fibers that a run has left come to their end: they are interrupted, so that their finally
 * blocks run and release locks. A fiber that goes on all the same is stopped by errors; if it
 * catches those too, it is parked for ever, and the stage is not used again.
 */
final class Unwinding {
  /** How many slices and points all fibers get. */
  private static final int STEPS = 10_000;

  /** How often time may move: a fiber that waits again and again does not end. */
  private static final int JUMPS = 100;

  /** After so many points of all fibers errors are thrown. */
  private static final int POINTS = 1_000;

  /** After so many calls of the network by a fiber errors are thrown. */
  private static final int OPERATIONS = 50;

  private boolean active;
  private int jumps;

  void begin() {
    active = true;
    jumps = 0;
  }

  void end() {
    active = false;
  }

  boolean isActive() {
    return active;
  }

  boolean hasTooManySteps(long steps) {
    return steps > STEPS;
  }

  /** Counts a move of the time; returns whether there were too many. */
  boolean jumpsTooOften() {
    return ++jumps > JUMPS;
  }

  void atPoint(long steps, boolean isOver) {
    if (isOver) {
      parkForEver();
    }
    if (steps > POINTS && steps % 100 == 0) {
      throw new SimulationFailure("the run has ended");
    }
  }

  void atOperation(Lane lane) {
    int operations = ++lane.unwindOperations;
    if (operations > 2 * OPERATIONS) {
      parkForEver();
    } else if (operations > OPERATIONS) {
      throw new SimulationFailure("the run has ended");
    }
  }

  /** An interrupt closes the JDK's sockets, and a loop that ignores exceptions would then spin. */
  void checkWait() {
    if (active) {
      throw new SimulationFailure("the run has ended");
    }
  }

  private void parkForEver() {
    while (true) {
      Thread.interrupted(); // else the park returns at once
      LockSupport.park(this);
    }
  }

  /** Parks a fiber that has crashed its own host, until it unwinds. */
  void parkWhileFrozen(Lane lane) {
    while (lane.frozen) {
      Thread.interrupted(); // else the park returns at once
      LockSupport.park(this);
    }
    throw new SimulationFailure("the run has ended");
  }
}
