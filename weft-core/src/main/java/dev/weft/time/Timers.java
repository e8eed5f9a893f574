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
   * Calls back every period, the first time after one. It keeps its rate: a callback that is late
   * does not delay the next, and what is missed while one still runs is left out.
   */
  public abstract Timer every(Duration period, Body callback);

  /** Calls back again and again, with the delay between the end of one call and the next. */
  public abstract Timer everyAfter(Duration delay, Body callback);

  /** Calls back once, after the delay, unless the referent of the condition is gone by then. */
  public abstract Timer afterWhile(Reference<?> condition, Duration delay, Body callback);

  /** Calls back every period, until the referent of the condition is gone. */
  public abstract Timer everyWhile(Reference<?> condition, Duration period, Body callback);

  /** Returns how many timers have not ended: one-shots that will fire and recurring ones. */
  public abstract int pending();
}
