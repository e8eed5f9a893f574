package dev.weft.time;

import dev.weft.Body;
import dev.weft.internal.TimerHost;
import dev.weft.internal.TimersAccess;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;

/**
 * The timers of a scheduler. Callbacks run as fibers of it, so they may block; they never run
 * early. All methods may be called from any thread; a scheduler that has stopped takes no more
 * timers ({@link java.util.concurrent.RejectedExecutionException}).
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="timers"}
 */
public final class Timers {
  static {
    TimersAccess.setFactory(Timers::new);
  }

  private final TimerHost host;

  private Timers(TimerHost host) {
    this.host = host;
  }

  /** Calls back once, after the delay. */
  public Timer after(Duration delay, Body callback) {
    return OneShotTimer.start(host, callback, notNegative(delay));
  }

  /**
   * Calls back every period, the first time after one. It keeps its rate: a callback that is late
   * does not delay the next, and what is missed while one still runs is left out.
   */
  public Timer every(Duration period, Body callback) {
    return RecurringTimer.start(
        host, callback, null, RecurringTimer.Kind.AT_FIXED_RATE, positive(period));
  }

  /** Calls back again and again, with the delay between the end of one call and the next. */
  public Timer everyAfter(Duration delay, Body callback) {
    return RecurringTimer.start(
        host, callback, null, RecurringTimer.Kind.WITH_FIXED_DELAY, positive(delay));
  }

  /** Calls back once, after the delay, unless the referent of the condition is gone by then. */
  public Timer afterWhile(Reference<?> condition, Duration delay, Body callback) {
    Objects.requireNonNull(condition, "condition");
    Objects.requireNonNull(callback, "callback");
    return OneShotTimer.start(
        host, new OneShotTimer.Conditional(condition, callback), notNegative(delay));
  }

  /** Calls back every period, until the referent of the condition is gone. */
  public Timer everyWhile(Reference<?> condition, Duration period, Body callback) {
    Objects.requireNonNull(condition, "condition");
    return RecurringTimer.start(
        host, callback, condition, RecurringTimer.Kind.AT_FIXED_RATE, positive(period));
  }

  /** Returns how many timers have not ended: one-shots that will fire and recurring ones. */
  public int pending() {
    return host.pending();
  }

  static Duration positive(Duration period) {
    if (period.isNegative() || period.isZero()) {
      throw new IllegalArgumentException("period must be positive, not " + period);
    }
    return period;
  }

  static Duration notNegative(Duration delay) {
    if (delay.isNegative()) {
      throw new IllegalArgumentException("delay must be zero or more, not " + delay);
    }
    return delay;
  }
}
