package dev.weft.internal.sched;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Keeps ready fibers from waiting behind a long slice while a worker of their scheduler sleeps.
 *
 * <p>A woken fiber stays with the worker that woke it as long as that is likely to run it at once:
 * waking a second thread costs more than a slice. Only another thread can find out that the slice
 * goes on and on. So one of the sleeping workers, the sentry, looks after the busy workers (the
 * task of sysmon in Go's {@code proc.go}, but without a thread of its own):
 *
 * <pre>
 *   fibers wait on a worker while another worker sleeps          {@link #noteWaiting}
 *        │ no sentry yet: a sleeping worker is woken and becomes it
 *        ▼
 *   the sentry looks at the others from inside its sleep         {@link #look}
 *        ├─ a worker is in the same slice as at the look before, or has not run dry for
 *        │  CROWDED_NANOS, and has fibers waiting: the sentry takes half of them over, and leaves
 *        │  its sleep to run them
 *        └─ nothing was noted since the look before: the sentry sleeps on like the others
 * </pre>
 *
 * <p>The cost is bounded whatever the fibers do: one wake-up and a few looks a millisecond, some 1
 * % of a core that has nothing else to do; none if all workers sleep, all are busy, or there is
 * only one worker. Considered and refused: to wake a sleeping worker for each fiber made ready, as
 * Go does ({@code wakep} in {@code proc.go}: half the cost of a ping-pong would be wake-ups that
 * come too late), and to let the watchdog look so often (every worker that wakes would have to wake
 * it).
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>There is at most one sentry, and it is asleep: a worker that leaves its sleep resigns, and
 *       an appointment of a worker that just woke is withdrawn. (The worker clears asleep, then
 *       looks at sentry; the appointing thread sets sentry, then looks at asleep.)
 *   <li>No note is lost: the sentry resigns, then looks once more under the lock of each worker.
 *   <li>{@link #look} and what it remembers belong to the sentry.
 * </ul>
 */
final class Sentry {
  /** How long the sentry sleeps between two looks. */
  private static final long LOOK_NANOS = 700_000;

  /** The same, after a look that found a worker in a slice with fibers waiting. */
  private static final long SECOND_LOOK_NANOS = 100_000;

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

  // whether fibers have been seen waiting since the last look
  private volatile boolean noted;

  // what the last look saw: the slice in which each worker had fibers waiting, and since when it
  // has not run dry
  private final long[] slices;
  private final long[] crowdedSince;
  private long nextLook = LOOK_NANOS;

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
        appoint();
      } else if (!noted) { // Check first: a volatile store costs a fence.
        noted = true;
      }
    }
  }

  private void appoint() {
    for (Worker worker : workers) {
      if (worker.isAsleep() && SENTRY.compareAndSet(this, null, worker)) {
        if (worker.isAsleep() && stir(worker)) {
          return;
        }
        SENTRY.compareAndSet(this, worker, null);
      }
    }
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

  /** Makes a worker that falls asleep the sentry, if there is none and fibers wait elsewhere. */
  void volunteer(Worker worker) {
    if (workers.length > 1 && sentry == null && fibersWaitOutside(worker)) {
      SENTRY.compareAndSet(this, null, worker);
    }
  }

  private boolean fibersWaitOutside(Worker self) {
    for (Worker worker : workers) {
      if (worker != self && worker.seemsToHaveWaiting()) {
        return true;
      }
    }
    return false;
  }

  /** Called by a worker that leaves its sleep. */
  void resign(Worker worker) {
    if (sentry == worker) {
      forgetLook();
      SENTRY.compareAndSet(this, worker, null);
    }
  }

  private void forgetLook() {
    Arrays.fill(slices, NO_SLICE);
    Arrays.fill(crowdedSince, 0);
  }

  boolean isOnDuty(Worker worker) {
    return sentry == worker;
  }

  /** Returns how long the sentry may sleep until its next look. */
  long nanosToNextLook() {
    return nextLook;
  }

  /**
   * Looks at the other workers; called by the sentry, which resigns here if there was no reason to
   * look. Returns the worker from which the sentry has to take over fibers, or null.
   */
  @Nullable Worker look(Worker self, long now) {
    boolean waiting = noted;
    if (waiting) {
      noted = false;
    }
    boolean second = false;
    for (Worker worker : workers) {
      int i = worker.index;
      if (worker == self || !worker.seemsToHaveWaiting() || worker.running() == 0) {
        slices[i] = NO_SLICE;
        continue;
      }
      long slice = worker.slices();
      if (slice == slices[i] || isCrowded(worker, now)) {
        return worker;
      }
      slices[i] = slice;
      second = true;
    }
    nextLook = second ? SECOND_LOOK_NANOS : LOOK_NANOS;
    if (!waiting && !second) {
      resign(self);
      for (Worker worker : workers) {
        if (worker != self && worker.hasStealable()) {
          SENTRY.compareAndSet(this, null, self);
        }
      }
    }
    return null;
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
