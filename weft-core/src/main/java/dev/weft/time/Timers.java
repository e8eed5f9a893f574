package dev.weft.time;

import dev.weft.Body;
import dev.weft.internal.timer.TimersCore;
import java.lang.ref.Reference;
import java.time.Duration;

/**
 * The timers of a scheduler. Callbacks run as fibers of it, so they may block; they never run
 * early. All methods may be called from any thread; a scheduler that has stopped takes no more
 * timers ({@link java.util.concurrent.RejectedExecutionException}).
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="timers"}
 */
public abstract sealed class Timers permits TimersCore {
  /** For Weft's own subclass. */
  protected Timers() {}

  /** Calls back once, after the delay. */
  public abstract Timer after(Duration delay, Body callback);

  /**
   * Calls back every period, the first time after one period. The rate is fixed: a late callback
   * does not delay the next, and times that pass while a callback still runs are left out.
   */
  public abstract Timer every(Duration period, Body callback);

  /** Calls back again and again, with the delay between the end of one call and the next. */
  public abstract Timer everyAfter(Duration delay, Body callback);

  /** Calls back once, after the delay, unless the condition's referent has been collected. */
  public abstract Timer afterWhile(Reference<?> condition, Duration delay, Body callback);

  /** Calls back every period, until the condition's referent has been collected. */
  public abstract Timer everyWhile(Reference<?> condition, Duration period, Body callback);

  /**
   * Returns how many timers have not ended: one-shots that have yet to fire, and recurring ones.
   */
  public abstract int pending();
}
