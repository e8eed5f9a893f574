package dev.weft.time;

import dev.weft.Body;
import dev.weft.internal.Nanos;
import dev.weft.internal.TimerHost;
import dev.weft.internal.TimerPlace;
import dev.weft.internal.timer.TimerNode;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A timer that calls again and again, at a fixed rate or with a fixed delay. */
final class RecurringTimer implements Timer {
  /*
   * Under the monitor of this timer:
   *
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
    AT_FIXED_RATE,
    WITH_FIXED_DELAY
  }

  private final TimerHost host;
  private final TimerPlace place;
  private final Body callback;
  private final @Nullable Reference<?> condition;
  private final Kind kind;

  private State state = State.ARMED;
  private long period;
  private long deadline;

  // true while the callback runs
  private boolean busy;

  // the entry in the queue, a new one each time it is armed: the former may still be in a worker's
  // hands
  private @Nullable Entry entry;

  private RecurringTimer(
      TimerHost host, Body callback, @Nullable Reference<?> condition, Kind kind, Duration period) {
    this.host = host;
    this.place = host.place();
    this.callback = Objects.requireNonNull(callback, "callback");
    this.condition = condition;
    this.kind = kind;
    this.period = Nanos.of(period);
  }

  static RecurringTimer start(
      TimerHost host, Body callback, @Nullable Reference<?> condition, Kind kind, Duration period) {
    RecurringTimer timer = new RecurringTimer(host, callback, condition, kind, period);
    host.checkOpen(); // one that begins as the scheduler stops is never called: no need to end it
    host.countRecurring(1);
    synchronized (timer) {
      timer.arm(host.now() + timer.period);
    }
    return timer;
  }

  @Override
  public synchronized boolean cancel() {
    if (state == State.ENDED) {
      return false;
    }
    disarm();
    end();
    return true;
  }

  @Override
  public synchronized boolean refresh() {
    return reset(Duration.ofNanos(period), true);
  }

  @Override
  public synchronized boolean reset(Duration newPeriod, boolean fromNow) {
    long nanos = Nanos.of(Timers.positive(newPeriod));
    if (state == State.ENDED) {
      return false;
    }
    long start = fromNow ? host.now() : deadline - period;
    period = nanos;
    if (state == State.ARMED) {
      disarm();
      arm(start + nanos);
    }
    return true;
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
      host.fire(this::call, false, this::callbackEnded);
    }
    switch (kind) {
      case AT_FIXED_RATE -> arm(deadline + period * (1 + (host.now() - deadline) / period));
      case WITH_FIXED_DELAY -> state = State.FIRED;
    }
  }

  private void call() throws Exception {
    if (!isCancelled()) { // before the fiber of this callback had begun
      callback.run();
    }
  }

  private synchronized boolean isCancelled() {
    return state == State.ENDED;
  }

  private synchronized void callbackEnded() {
    busy = false;
    if (state == State.FIRED) {
      arm(host.now() + period);
    }
  }

  private void arm(long newDeadline) {
    deadline = newDeadline;
    state = State.ARMED;
    Entry armed = new Entry();
    entry = armed;
    place.add(armed, newDeadline);
  }

  private void disarm() {
    if (entry != null) {
      place.remove(entry);
      entry = null;
    }
  }

  private void end() {
    state = State.ENDED;
    host.countRecurring(-1);
  }
}
