package dev.weft.internal.timer;

import dev.weft.Body;

/** What {@code dev.weft.time} needs of a scheduler. */
public interface TimerHost {
  /** Returns the time of the scheduler's clock. */
  long now();

  /** Returns the place for a timer that the current thread is about to begin. */
  TimerPlace place();

  /**
   * Called after a timer has begun.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the scheduler has stopped; the timer
   *     is to be ended then
   */
  void checkOpen();

  /**
   * Runs a callback as a fiber, reports what it throws, and then runs {@code after}. Or does not,
   * and returns false: a recurring one while the scheduler stops and nothing is left but callbacks
   * like it.
   */
  boolean fire(Body callback, boolean oneShot, Runnable after);

  /** Told when a recurring timer begins (+1) and ends (-1). */
  void countRecurring(int change);

  /** Returns how many timers are pending. */
  int pending();
}
