package dev.weft.time;

import dev.weft.Body;
import dev.weft.internal.Nanos;
import dev.weft.internal.TimerHost;
import dev.weft.internal.timer.TimerNode;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A callback that is to run at some time, or every so often. Made by {@link Timers}. */
public final class Timer {
  /*
   * Under the monitor of this timer:
   *
   *   ARMED ──expired──► ENDED                                // once; the callback runs
   *   ARMED ──expired──► ARMED                                // at a fixed rate
   *   ARMED ──expired──► FIRED ──callback ended──► ARMED      // with a fixed delay
   *   ARMED, FIRED ──cancel──► ENDED
   */
  private enum State {
    ARMED,
    FIRED,
    ENDED
  }

  enum Kind {
    ONCE,
    AT_FIXED_RATE,
    WITH_FIXED_DELAY
  }

  private final TimerHost host;
  private final Body callback;
  private final @Nullable Reference<?> condition;
  private final Kind kind;

  private State state = State.ARMED;
  private long period;
  private long deadline;

  // true while the callback runs
  private boolean busy;

  // the entry in a worker's queue, a new one each time it is armed, and where that queue is
  private @Nullable Entry entry;
  private Object place = this;

  private Timer(
      TimerHost host, Body callback, @Nullable Reference<?> condition, Kind kind, Duration period) {
    this.host = host;
    this.callback = Objects.requireNonNull(callback, "callback");
    this.condition = condition;
    this.kind = kind;
    this.period = Nanos.of(period);
  }

  static Timer start(
      TimerHost host, Body callback, @Nullable Reference<?> condition, Kind kind, Duration period) {
    Timer timer = new Timer(host, callback, condition, kind, period);
    host.pending(1, kind == Kind.ONCE);
    synchronized (timer) {
      timer.arm(host.now() + timer.period);
    }
    return timer;
  }

  /**
   * Ends the timer; returns false if that is too late: it had fired, once and for all, or ended.
   */
  public synchronized boolean cancel() {
    if (disarm() || (state == State.FIRED && kind == Kind.WITH_FIXED_DELAY)) {
      end();
      return true;
    }
    return false;
  }

  /** Starts its time anew from now; returns false if it has fired, once and for all, or ended. */
  public synchronized boolean refresh() {
    return reset(Duration.ofNanos(period), true);
  }

  /**
   * Changes its period, counted from now or from where the current one began; returns false if it
   * has fired, once and for all, or ended.
   */
  public synchronized boolean reset(Duration newPeriod, boolean fromNow) {
    long nanos =
        Nanos.of(kind == Kind.ONCE ? Timers.notNegative(newPeriod) : Timers.positive(newPeriod));
    if (disarm()) {
      long start = fromNow ? host.now() : deadline - period;
      period = nanos;
      arm(start + nanos);
      return true;
    }
    if (state == State.FIRED && kind == Kind.WITH_FIXED_DELAY) {
      period = nanos;
      return true;
    }
    return false;
  }

  private final class Entry extends TimerNode {
    @Override
    public void onExpired() {
      expired(this);
    }
  }

  private synchronized void expired(Entry expired) {
    if (expired != entry || state != State.ARMED) {
      return; // cancelled or reset after the queue had let go of it
    }
    if (condition != null && condition.refersTo(null)) {
      end();
      return;
    }
    boolean skip = busy;
    if (!skip) {
      busy = true;
      host.fire(this::call, kind == Kind.ONCE, this::callbackEnded);
    }
    switch (kind) {
      case ONCE -> end(); // after the callback's fiber has begun: stop() must not miss both
      case AT_FIXED_RATE -> arm(deadline + period * (1 + (host.now() - deadline) / period));
      case WITH_FIXED_DELAY -> state = State.FIRED;
    }
  }

  private void call() throws Exception {
    if (!cancelledInTime()) {
      callback.run();
    }
  }

  /** Returns whether a recurring timer was cancelled before the fiber of its callback began. */
  private synchronized boolean cancelledInTime() {
    return kind != Kind.ONCE && state == State.ENDED;
  }

  private synchronized void callbackEnded() {
    busy = false;
    if (state == State.FIRED && kind == Kind.WITH_FIXED_DELAY) {
      arm(host.now() + period);
    }
  }

  private void arm(long newDeadline) {
    deadline = newDeadline;
    state = State.ARMED;
    Entry armed = new Entry();
    entry = armed;
    place = host.arm(armed, newDeadline);
  }

  /** Takes it from its queue, or from the hands of a worker that has not called it yet. */
  private boolean disarm() {
    if (state != State.ARMED || entry == null) {
      return false;
    }
    host.disarm(place, entry);
    return true;
  }

  private void end() {
    state = State.ENDED;
    host.pending(-1, kind == Kind.ONCE);
  }
}
