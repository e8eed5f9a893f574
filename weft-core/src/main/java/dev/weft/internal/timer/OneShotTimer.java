package dev.weft.internal.timer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.Body;
import dev.weft.internal.Nanos;
import dev.weft.time.Timer;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;

/**
 * A timer that fires once. Most are time limits, set often and cancelled nearly as often: so the
 * timer is its own entry in the queue, one object, and has no state except whether it is queued.
 *
 * <p>Invariant: it is in the queue of its place from start() until a worker removes it to fire it,
 * or cancel() removes it. The thread that removes it decides.
 */
public final class OneShotTimer extends TimerNode implements Timer {
  private final TimerPlace place;
  private final Body callback;

  // only reset() and refresh() take the monitor
  @GuardedBy("this")
  private long period;

  private OneShotTimer(TimerPlace place, Body callback, long period) {
    this.place = place;
    this.callback = Objects.requireNonNull(callback, "callback");
    this.period = period;
  }

  static OneShotTimer start(TimerHost host, Body callback, Duration delay) {
    long period = Nanos.of(delay);
    TimerPlace place = host.place();
    OneShotTimer timer = new OneShotTimer(place, callback, period);
    place.beginOneShot(timer, host.now() + period); // now() last: it waits for all earlier loads
    try {
      host.checkOpen();
    } catch (RejectedExecutionException e) {
      timer.cancel();
      throw e;
    }
    return timer;
  }

  /** A callback that runs only while the referent of the condition has not been collected. */
  record Conditional(Reference<?> condition, Body callback) implements Body {
    @Override
    public void run() throws Exception {
      if (!condition.refersTo(null)) { // checked again: it may have gone since onExpired
        callback.run();
      }
    }
  }

  @Override
  public boolean cancel() {
    return place.cancelOneShot(this);
  }

  @Override
  public synchronized boolean refresh() {
    return restart(place.host().now(), period);
  }

  @Override
  public synchronized boolean reset(Duration newPeriod, boolean fromNow) {
    long nanos = Nanos.of(TimersCore.notNegative(newPeriod));
    return restart(fromNow ? place.host().now() : deadline() - period, nanos);
  }

  @GuardedBy("this")
  private boolean restart(long newStart, long newPeriod) {
    if (!place.move(this, newStart + newPeriod)) {
      return false;
    }
    period = newPeriod;
    return true;
  }

  @Override
  public void onExpired() {
    try {
      boolean gone = callback instanceof Conditional c && c.condition.refersTo(null);
      if (!gone) {
        place.host().fire(callback, true, () -> {});
      }
    } finally {
      place.endOneShot(); // after the callback's fiber has begun: stop() must see one of the two
    }
  }
}
