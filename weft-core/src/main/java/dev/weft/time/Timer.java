package dev.weft.time;

import dev.weft.internal.timer.OneShotTimer;
import dev.weft.internal.timer.RecurringTimer;
import java.time.Duration;

/** A timer: a callback that runs once or again and again. Made by {@link Timers}. */
public sealed interface Timer permits OneShotTimer, RecurringTimer {
  /**
   * Ends the timer; returns false if that is too late: the timer is due and about to fire, or has
   * ended. After true the callback does not run (any more).
   */
  boolean cancel();

  /** Restarts its period from now; returns false if it is too late, as for {@link #cancel}. */
  boolean refresh();

  /**
   * Changes its period, counted from now or from where the current one began; returns false if it
   * is too late, as for {@link #cancel}.
   */
  boolean reset(Duration period, boolean fromNow);
}
