package dev.weft.internal.timer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.Body;
import dev.weft.internal.Nanos;
import dev.weft.internal.lock.SpinLock;
import dev.weft.time.Timer;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A timer that fires again and again, at a fixed rate or with a fixed delay. */
public final class RecurringTimer implements Timer {
  /*
   * The state is under a spin lock and not a monitor: a worker takes it between slices, and must not
   * wait for a fiber that only this worker can run.
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

  private final SpinLock lock = new SpinLock();

  @GuardedBy("lock")
  private State state = State.ARMED;

  @GuardedBy("lock")
  private long period;

  @GuardedBy("lock")
  private long deadline;

  // true while the callback runs
  @GuardedBy("lock")
  private boolean busy;

  // its entry in the queue, a new one each time it is armed: a worker may still be about to fire
  // the former entry
  @GuardedBy("lock")
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
    // A timer that begins as the scheduler stops never fires, so nothing has to end it.
    host.checkOpen();
    host.countRecurring(1);
    timer.lock.lock();
    try {
      timer.arm(host.now() + timer.period);
    } finally {
      timer.lock.unlock();
    }
    return timer;
  }

  @Override
  public boolean cancel() {
    lock.lock();
    try {
      if (state == State.ENDED) {
        return false;
      }
      disarm();
      end();
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean refresh() {
    lock.lock();
    try {
      return restart(period, true);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean reset(Duration newPeriod, boolean fromNow) {
    long nanos = Nanos.of(TimersCore.positive(newPeriod));
    lock.lock();
    try {
      return restart(nanos, fromNow);
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean restart(long newPeriod, boolean fromNow) {
    if (state == State.ENDED) {
      return false;
    }
    long start = fromNow ? host.now() : deadline - period;
    period = newPeriod;
    if (state == State.ARMED) {
      disarm();
      arm(start + newPeriod);
    }
    return true;
  }

  private final class Entry extends TimerNode {
    @Override
    public void onExpired() {
      if (rearm(this)) {
        fire();
      }
    }
  }

  /** Arms the timer for its next time; returns whether the callback has to run for this one. */
  private boolean rearm(Entry expired) {
    lock.lock();
    try {
      if (expired != entry || state != State.ARMED) {
        return false; // cancelled or reset after the entry had left the queue
      }
      if (isOutOfDate()) {
        end();
        return false;
      }
      boolean wasBusy = busy;
      busy = true;
      switch (kind) {
        case AT_FIXED_RATE -> arm(deadline + period * (1 + (host.now() - deadline) / period));
        case WITH_FIXED_DELAY -> state = State.FIRED;
      }
      return !wasBusy;
    } finally {
      lock.unlock();
    }
  }

  private void fire() {
    boolean begun = false;
    try {
      begun = host.fire(this::call, false, this::callbackEnded);
    } finally {
      if (!begun) {
        callbackEnded();
      }
    }
  }

  private boolean isOutOfDate() {
    return condition != null && condition.refersTo(null);
  }

  private void call() throws Exception {
    if (!isCancelled() && !isOutOfDate()) { // checked again: maybe before this fiber began
      callback.run();
    }
  }

  private boolean isCancelled() {
    lock.lock();
    try {
      return state == State.ENDED;
    } finally {
      lock.unlock();
    }
  }

  private void callbackEnded() {
    lock.lock();
    try {
      busy = false;
      if (state == State.FIRED) {
        arm(host.now() + period);
      }
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void arm(long newDeadline) {
    deadline = newDeadline;
    state = State.ARMED;
    Entry armed = new Entry();
    entry = armed;
    place.add(armed, newDeadline);
  }

  @GuardedBy("lock")
  private void disarm() {
    if (entry != null) {
      place.remove(entry);
      entry = null;
    }
  }

  @GuardedBy("lock")
  private void end() {
    state = State.ENDED;
    host.countRecurring(-1);
  }
}
