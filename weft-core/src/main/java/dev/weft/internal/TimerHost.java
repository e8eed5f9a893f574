package dev.weft.internal;

import dev.weft.Body;
import dev.weft.internal.timer.TimerNode;

/** What {@code dev.weft.time} needs of a scheduler. */
public interface TimerHost {
  /** Returns the time of the scheduler's clock. */
  long now();

  /** Sets a timer on one of the workers and returns where, for {@link #disarm}. */
  Object arm(TimerNode node, long deadline);

  /** Takes a timer back; returns false if it has expired. */
  boolean disarm(Object place, TimerNode node);

  /**
   * Runs a callback as a fiber, reports what it throws, and then runs {@code after}. Or does not: a
   * recurring one while the scheduler stops and nothing is left but callbacks like it.
   */
  void fire(Body callback, boolean oneShot, Runnable after);

  /**
   * Told when a timer begins (+1) and ceases (-1) to be pending; one-shots keep stop() waiting.
   *
   * @throws java.util.concurrent.RejectedExecutionException if one begins and the scheduler has
   *     stopped
   */
  void pending(int change, boolean oneShot);

  /** Returns how many timers are pending. */
  int pending();
}
