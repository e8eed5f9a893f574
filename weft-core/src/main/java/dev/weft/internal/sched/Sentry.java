package dev.weft.internal.sched;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Keeps ready fibers, due timers and ready sockets from waiting behind a long slice while a worker
 * of their scheduler sleeps.
 *
 * <p>A woken fiber stays with the worker that woke it as long as that is likely to run it at once:
 * waking a second thread costs more than a slice. Only another thread can find out that the slice
 * goes on and on. So one of the sleeping workers, the sentry, looks after the busy workers (the
 * task of sysmon in Go's {@code proc.go}, but without a thread of its own):
 *
 * <pre>
 *   while another worker sleeps, a worker
 *     has fibers waiting                                         {@link #noteWaiting}
 *     begins a slice with duties: timers set, a poller made      {@link #noteDuties}
 *        │ no sentry yet: a sleeping worker becomes it, and is woken unless it will wake soon
 *        ▼
 *   the sentry looks at the others from inside its sleep         {@link #look}
 *        ├─ a worker with duties is in the same slice as at the look before: the sentry does the
 *        │  duties, which may make fibers ready, on either worker
 *        ├─ a worker is in or after the same slice as at the look before, or has not run dry for
 *        │  CROWDED_NANOS, and has fibers waiting: the sentry takes half of them over, and leaves
 *        │  its sleep to run them (a worker may lose its core between two slices too)
 *        └─ at two looks in a row nothing was noted, and no slice was seen that may grow long: the
 *           sentry sleeps on like the others
 * </pre>
 *
 * <p>Two workers with timers or sockets that sleep and wake in turns would wake each other for each
 * slice, since each that leaves its sleep ceases to be the sentry. So a worker that has run slices
 * dozes first: unless a sentry has settled, it wakes after LOOK_NANOS, and can until then be
 * appointed without a wake-up.
 *
 * <p>The cost is bounded whatever the fibers do: one wake-up and a few looks a millisecond, some 1
 * % of a core that has nothing else to do; none if all workers sleep, all are busy, or there is
 * only one worker. Considered and refused: to wake a sleeping worker for each fiber made ready, as
 * Go does ({@code wakep} in {@code proc.go}: half the cost of a ping-pong would be wake-ups that
 * come too late), and to let the watchdog look so often (every worker that wakes would have to wake
 * it). For timers and sockets also: to have the sleeping worker wait for the busy worker's epoll
 * and for its next timer (both workers would wake for each event and each timer, also when neither
 * is busy).
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>There is at most one sentry, and it is asleep: a worker that leaves its sleep resigns, for
 *       another sleeping worker if there is a reason, and an appointment of a worker that just woke
 *       is withdrawn. (The worker clears asleep, then looks at sentry; the appointing thread sets
 *       sentry, then looks at asleep.)
 *   <li>The sentry's sleep is short: a worker ends its doze, then looks at sentry, then sleeps
 *       long; the appointing thread sets sentry, then looks whether the worker dozes.
 *   <li>While a worker is in a slice with duties and another sleeps, there is a sentry: the worker
 *       has left its sleep, then looks for sleepers; a worker that falls asleep is counted, then
 *       looks for workers that are awake with duties.
 *   <li>No note is lost: the sentry resigns, then looks once more at each worker.
 *   <li>{@link #look} and what it remembers belong to the sentry.
 * </ul>
 */
final class Sentry {
  /** How long the sentry sleeps between two looks. */
  private static final long LOOK_NANOS = 700_000;

  /** The same, after a look that found a worker in another slice than at the look before. */
  private static final long SECOND_LOOK_NANOS = 100_000;

  /** After how many looks in a row without a reason for one the sentry resigns. */
  private static final int QUIET_LOOKS = 2;

  /** How long a worker may have fibers waiting at every moment before some are taken over. */
  private static final long CROWDED_NANOS = 1_000_000;

  private static final long NO_SLICE = -1;
  private static final VarHandle SENTRY;

  static {
    try {
      SENTRY = MethodHandles.lookup().findVarHandle(Sentry.class, "sentry", Worker.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final SchedulerCore scheduler;
  private final Worker[] workers;

  private volatile @Nullable Worker sentry;

  // whether fibers have been seen waiting, or a slice with duties begun, since the last look
  private volatile boolean noted;

  // whether the sentry has looked since it was appointed; a stale value does no harm
  private boolean settled;

  // what the last look saw: the slice in which each worker had fibers waiting, and since when it
  // has not run dry
  private final long[] slices;
  private final long[] crowdedSince;
  private long nextLook = LOOK_NANOS;
  private int quietLooks;

  Sentry(SchedulerCore scheduler) {
    this.scheduler = scheduler;
    this.workers = scheduler.workers;
    this.slices = new long[workers.length];
    this.crowdedSince = new long[workers.length];
    forgetLook();
  }

  /** Notes that a ready fiber waits at a worker that runs another fiber; called on any thread. */
  void noteWaiting() {
    if (scheduler.hasSleeper()) {
      if (sentry == null) {
        appoint(false);
      } else {
        note();
      }
    }
  }

  /** Notes that a worker is in a slice, or begins it, and so does no duties until its end. */
  void noteDuties(Worker worker) {
    if (scheduler.hasSleeper() && worker.hasDuties()) {
      if (sentry != null) {
        note();
      } else if (!appoint(true)) {
        appoint(false);
      }
    }
  }

  private void note() {
    if (!noted) { // Check first: a volatile store costs a fence.
      noted = true;
    }
  }

  /**
   * Appoints a sleeping worker, and wakes it for a look.
   *
   * @param dozing whether it is to be one that will look soon by itself, and need not be woken
   */
  private boolean appoint(boolean dozing) {
    for (Worker worker : workers) {
      if (worker.isAsleep()
          && (!dozing || worker.dozes())
          && SENTRY.compareAndSet(this, null, worker)) {
        if (worker.isAsleep() && ((dozing && worker.dozes()) || stir(worker))) {
          return true;
        }
        SENTRY.compareAndSet(this, worker, null);
      }
    }
    return false;
  }

  /** Wakes the new sentry for a look; returns false if there is no memory for that call. */
  private static boolean stir(Worker worker) {
    try {
      worker.stirSleep();
      return true;
    } catch (OutOfMemoryError e) {
      return false;
    }
  }

  /**
   * Makes a worker that falls asleep the sentry, if there is none and another worker has fibers
   * waiting, or is awake and has duties.
   */
  void volunteer(Worker self) {
    if (workers.length > 1 && sentry == null && mayNeedOne(self)) {
      SENTRY.compareAndSet(this, null, self);
    }
  }

  /** Returns whether a worker other than this one may have to be watched. */
  private boolean mayNeedOne(Worker self) {
    for (Worker worker : workers) {
      if (worker != self
          && (worker.seemsToHaveWaiting() || (worker.isAwake() && worker.hasDuties()))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether a worker that has run slices and falls asleep had better doze: because another
   * worker may begin a slice with duties soon, and no sentry has settled.
   */
  boolean mayBeNeeded(Worker self) {
    if (workers.length == 1 || (sentry != null && settled)) {
      return false;
    }
    for (Worker worker : workers) {
      if (worker != self && worker.hasDuties()) {
        return true;
      }
    }
    return false;
  }

  /** Called by a worker that leaves its sleep: another one may have to take its place. */
  void leave(Worker self) {
    if (sentry == self) {
      resign(self);
      if (scheduler.hasSleeper() && mayNeedOne(self) && !appoint(true)) {
        appoint(false);
      }
    }
  }

  private void resign(Worker self) {
    forgetLook();
    SENTRY.compareAndSet(this, self, null);
  }

  private void forgetLook() {
    Arrays.fill(slices, NO_SLICE);
    Arrays.fill(crowdedSince, 0);
    quietLooks = 0;
    settled = false;
  }

  boolean isOnDuty(Worker worker) {
    return sentry == worker;
  }

  /** Returns how long the sentry may sleep until its next look. */
  long nanosToNextLook() {
    return nextLook;
  }

  /** Returns how long a worker dozes. */
  static long dozeNanos() {
    return LOOK_NANOS;
  }

  /**
   * Looks at the other workers; called by the sentry, which resigns here if there was no reason to
   * look. Returns the worker from which the sentry has to take over fibers, or null.
   */
  @Nullable Worker look(Worker self, long now) {
    settled = true;
    boolean quiet = !noted;
    if (!quiet) {
      noted = false;
    }
    boolean regular = nextLook == LOOK_NANOS;
    boolean second = false;
    for (Worker worker : workers) {
      int i = worker.index;
      boolean inSlice = worker.running() != 0;
      boolean duties = inSlice && worker.hasDuties();
      boolean waits = worker.seemsToHaveWaiting() && (inSlice || mayHaveLostItsCore(worker));
      if (worker == self || !(waits || duties)) {
        slices[i] = NO_SLICE;
        continue;
      }
      quiet = false;
      long slice = worker.slices();
      boolean isLong = slice == slices[i];
      if (isLong && duties) {
        self.doDutiesOf(worker);
        waits = worker.seemsToHaveWaiting();
      }
      if (waits && (isLong || isCrowded(worker, now))) {
        return worker;
      }
      slices[i] = slice;
      second |= !isLong && (waits || regular);
    }
    nextLook = second ? SECOND_LOOK_NANOS : LOOK_NANOS;
    quietLooks = quiet ? quietLooks + 1 : 0;
    if (quietLooks >= QUIET_LOOKS) {
      resign(self);
      for (Worker worker : workers) {
        if (worker != self && (worker.hasStealable() || (worker.isAwake() && worker.hasDuties()))) {
          SENTRY.compareAndSet(this, null, self);
        }
      }
    }
    return null;
  }

  /**
   * Returns whether a worker that runs no slice may have lost its core there. If it holds its duty
   * lock, nothing can be taken over from it.
   */
  private static boolean mayHaveLostItsCore(Worker worker) {
    return worker.isAwake() && !worker.isTaken();
  }

  private boolean isCrowded(Worker worker, long now) {
    int i = worker.index;
    if (crowdedSince[i] == 0 || worker.ranDry) {
      worker.ranDry = false;
      crowdedSince[i] = now;
    }
    return now - crowdedSince[i] >= CROWDED_NANOS;
  }
}
