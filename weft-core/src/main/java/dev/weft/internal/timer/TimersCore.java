package dev.weft.internal.timer;

import dev.weft.Body;
import dev.weft.time.Timer;
import dev.weft.time.Timers;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;

/** The timers of one scheduler. */
public final class TimersCore extends Timers {
  private final TimerHost host;

  /** Creates the timers of a scheduler. */
  public TimersCore(TimerHost host) {
    this.host = host;
  }

  @Override
  public Timer after(Duration delay, Body callback) {
    return OneShotTimer.start(host, callback, notNegative(delay));
  }

  @Override
  public Timer every(Duration period, Body callback) {
    return RecurringTimer.start(
        host, callback, null, RecurringTimer.Kind.AT_FIXED_RATE, positive(period));
  }

  @Override
  public Timer everyAfter(Duration delay, Body callback) {
    return RecurringTimer.start(
        host, callback, null, RecurringTimer.Kind.WITH_FIXED_DELAY, positive(delay));
  }

  @Override
  public Timer afterWhile(Reference<?> condition, Duration delay, Body callback) {
    Objects.requireNonNull(condition, "condition");
    Objects.requireNonNull(callback, "callback");
    return OneShotTimer.start(
        host, new OneShotTimer.Conditional(condition, callback), notNegative(delay));
  }

  @Override
  public Timer everyWhile(Reference<?> condition, Duration period, Body callback) {
    Objects.requireNonNull(condition, "condition");
    return RecurringTimer.start(
        host, callback, condition, RecurringTimer.Kind.AT_FIXED_RATE, positive(period));
  }

  @Override
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
