package dev.weft.internal.sched;

/** What a fiber waits for, the blocker of its park, if it has to know of fibers that are gone. */
public interface Awaited {
  /**
   * Called without locks when a scheduler has given up on a fiber that waits for this, or that was
   * woken and has not run since: see {@link FiberCore#isGone}.
   */
  void waiterIsGone();
}
