package dev.weft.internal.sched;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.timer.TimerHost;
import dev.weft.internal.timer.TimerNode;
import dev.weft.internal.timer.TimerPlace;
import dev.weft.internal.timer.TimerQueue;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;

/**
 * The timers of a worker, and the duty lock that guards them: the {@link SpinLock} that a worker
 * is. Every other layer of the worker uses the same lock.
 *
 * <p>Invariant: no timer fires late because its worker sleeps. A thread that adds a timer looks,
 * under the lock, whether the worker sleeps beyond the timer's deadline; the worker sets its wake
 * time under the lock before it sleeps.
 */
abstract class WorkerTimers extends WorkerCounts implements TimerPlace {
  /** The wake time of a worker that sleeps until it is woken. */
  static final long NEVER = Long.MAX_VALUE;

  // touched under the duty lock; the reference is final, and read before the lock is taken
  private final TimerQueue timers;

  // how many one-shots began here and have not ended
  @GuardedBy("this")
  private int oneShots;

  // true from before the worker's last look at its inbox until the worker is awake again
  volatile boolean asleep;

  // when the worker will wake by itself; valid while asleep
  private volatile long wakeTime;

  WorkerTimers(SchedulerCore scheduler, int index) {
    super(scheduler, index);
    long now = scheduler.clock.nanoTime();
    this.timers = scheduler.world == null ? new TimerQueue(now) : TimerQueue.exact(now);
  }

  /** Wakes this worker's thread if it sleeps, or is about to; returns whether it did. */
  abstract boolean wakeUp();

  // ---- called on any thread ----

  @Override
  public final TimerHost host() {
    return scheduler.timerHost;
  }

  @Override
  public final void beginOneShot(TimerNode timer, long deadline) {
    addTimer(timer, deadline, 1);
  }

  @Override
  public final void add(TimerNode timer, long deadline) {
    addTimer(timer, deadline, 0);
  }

  private void addTimer(TimerNode timer, long deadline, int oneShotsMore) {
    TimerQueue queue = timers; // Load it before the lock: a later load would wait for the lock.
    boolean sooner;
    boolean first;
    lock();
    try {
      queue.add(timer, deadline);
      oneShots += oneShotsMore;
      sooner = isSooner(deadline);
      first = queue.size() == 1;
    } finally {
      unlock();
    }
    if (sooner) {
      wakeUp();
    }
    if (first && !asleep) {
      VarHandle.fullFence(); // the timer is seen by a worker that falls asleep, or its sleep here
      noteDuties();
    }
  }

  /** Notes that this worker, which may be in a slice, has something to do besides fibers. */
  abstract void noteDuties();

  /** Returns whether this worker sleeps and would wake too late. */
  private boolean isSooner(long deadline) {
    return asleep && (wakeTime == NEVER || deadline - wakeTime < 0);
  }

  @Override
  public final boolean cancelOneShot(TimerNode timer) {
    return removeTimer(timer, 1);
  }

  @Override
  public final boolean remove(TimerNode timer) {
    return removeTimer(timer, 0);
  }

  private boolean removeTimer(TimerNode timer, int oneShotsLess) {
    TimerQueue queue = timers; // as in addTimer
    int left;
    lock();
    try {
      if (!queue.remove(timer)) {
        return false;
      }
      left = oneShots -= oneShotsLess;
    } finally {
      unlock();
    }
    if (left == 0 && oneShotsLess > 0) {
      scheduler.wakeToStop();
    }
    return true;
  }

  @Override
  public final void endOneShot() {
    int left;
    lock();
    try {
      left = --oneShots;
    } finally {
      unlock();
    }
    if (left == 0) {
      scheduler.wakeToStop();
    }
  }

  @Override
  public final boolean move(TimerNode timer, long deadline) {
    boolean sooner;
    lock();
    try {
      if (!timers.remove(timer)) {
        return false;
      }
      timers.add(timer, deadline);
      sooner = isSooner(deadline);
    } finally {
      unlock();
    }
    if (sooner) {
      wakeUp();
    }
    return true;
  }

  final int oneShots() {
    lock();
    try {
      return oneShots;
    } finally {
      unlock();
    }
  }

  final int timerCount() {
    lock();
    try {
      return timers.size();
    } finally {
      unlock();
    }
  }

  /** Returns whether it had a timer a moment ago. Without the lock, as seemsToHaveWaiting. */
  final boolean seemsToHaveTimers() {
    return timers.size() > 0;
  }

  // ---- called under the lock ----

  /** Takes the timers that are due out of the queue. */
  @GuardedBy("this")
  final void expireTimers(long time, Consumer<TimerNode> expired) {
    timers.expire(time, expired);
  }

  @GuardedBy("this")
  final int timersQueued() {
    return timers.size();
  }

  /** Sets until when the worker is about to sleep. */
  @GuardedBy("this")
  final void setWakeTime() {
    wakeTime = timers.nextWake();
  }

  /** Returns when the worker wakes by itself; called by the worker, about to sleep. */
  final long wakeTime() {
    return wakeTime;
  }
}
