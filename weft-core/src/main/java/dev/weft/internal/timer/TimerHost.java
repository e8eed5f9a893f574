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
   * Runs a callback as a fiber, reports its failure, and then runs {@code after}. Returns false
   * without a fiber if the scheduler has stopped, or if it is stopping, the timer is recurring, and
   * only callbacks of recurring timers are left.
   */
  boolean fire(Body callback, boolean oneShot, Runnable after);

  /** Called when a recurring timer begins (+1) and ends (-1). */
  void countRecurring(int change);

  /** Returns how many timers are pending. */
  int pending();
}
