package dev.weft.time;

import dev.weft.internal.timer.OneShotTimer;
import dev.weft.internal.timer.RecurringTimer;
import java.time.Duration;

/** A callback that is to run at some time, or every so often. Made by {@link Timers}. */
public sealed interface Timer permits OneShotTimer, RecurringTimer {
  /**
   * Ends the timer; returns false if that is too late: it is due and about to be called, or has
   * ended. After true the callback does not run (any more).
   */
  boolean cancel();

  /** Starts its time anew from now; returns false if it is too late, as for {@link #cancel}. */
  boolean refresh();

  /**
   * Changes its period, counted from now or from where the current one began; returns false if it
   * is too late, as for {@link #cancel}.
   */
  boolean reset(Duration period, boolean fromNow);
}
