package dev.weft.internal.sched;

import dev.weft.internal.Faults;
import dev.weft.internal.Log;
import dev.weft.internal.lock.SpinLock;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The counters of a worker: slices, sleeps, fibers begun and ended; and the id of the fiber that
 * runs. The worker's thread writes, without atomic operations; any thread reads.
 */
abstract class WorkerCounts extends SpinLock {
  private static final VarHandle RUNNING;
  private static final VarHandle SLICES;
  private static final VarHandle SLEEPS;
  private static final VarHandle BEGUN;
  private static final VarHandle ENDED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      RUNNING = lookup.findVarHandle(WorkerCounts.class, "running", long.class);
      SLICES = lookup.findVarHandle(WorkerCounts.class, "slices", long.class);
      SLEEPS = lookup.findVarHandle(WorkerCounts.class, "sleeps", long.class);
      BEGUN = lookup.findVarHandle(WorkerCounts.class, "begun", long.class);
      ENDED = lookup.findVarHandle(WorkerCounts.class, "ended", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  public final SchedulerCore scheduler;
  public final int index;

  // the id of the fiber that runs a slice here, 0 if none does; written by this worker's thread,
  // read by any. Not the fiber itself: two stores of a reference into an old object per slice cost
  // more, by the garbage collector's barrier, than the ready queue
  private long running;

  // slices begun; written by this worker's thread, read by any
  private long slices;

  // how often it slept; written by this worker's thread, read by any
  private long sleeps;

  // how many lost wake-ups of this worker the watchdog has repaired; written by the watchdog only
  private volatile int rescues;

  // fibers begun by fibers of this worker, fibers ended on it; written by its thread, read by any
  private long begun;
  private long ended;

  // how many sections are open in which the fiber that runs here must not park; this worker's
  // thread only, and only with assertions on
  private int noParkSections;

  WorkerCounts(SchedulerCore scheduler, int index) {
    this.scheduler = scheduler;
    this.index = index;
  }

  // ---- counting ----

  final void countSlice(FiberCore<?> fiber) {
    RUNNING.setOpaque(this, fiber.id());
    SLICES.setOpaque(this, slices + 1);
  }

  final void countNoSlice() {
    RUNNING.setOpaque(this, 0L);
  }

  final void countSleep() {
    SLEEPS.setOpaque(this, sleeps + 1);
  }

  final void countEnded() {
    ENDED.setRelease(this, ended + 1);
  }

  /** Takes note of a fiber that a fiber of this worker begins; called on this worker's thread. */
  final void countBegun() {
    BEGUN.setRelease(this, begun + 1);
  }

  final long begun() {
    return (long) BEGUN.getAcquire(this);
  }

  final long ended() {
    return (long) ENDED.getAcquire(this);
  }

  /** Returns how many slices have begun here. */
  public final long slices() {
    return (long) SLICES.getOpaque(this);
  }

  /** Returns the id of the fiber that runs a slice here, or 0. */
  public final long running() {
    return (long) RUNNING.getOpaque(this);
  }

  /** Returns how often this worker has slept. */
  public final long sleeps() {
    return (long) SLEEPS.getOpaque(this);
  }

  /** Called by the watchdog when it has repaired a lost wake-up of this worker. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // by the watchdog's thread alone
  public final void countRescue() {
    rescues++;
  }

  /** Returns whether this worker runs a slice of this fiber; exact on the worker's own thread. */
  final boolean isIn(FiberCore<?> fiber) {
    return running == fiber.id();
  }

  final int rescues() {
    return rescues;
  }

  // ---- sections without a park, checked with assertions on ----

  /**
   * Begins a section in which the fiber that calls must not park, since it has asked for the worker
   * it runs on: after a park it may run on another one. For assertions, so returns true.
   */
  public static boolean beginNoPark(@Nullable WorkerCounts here) {
    if (here != null) {
      here.noParkSections++;
    }
    return true;
  }

  /** Ends the section that {@link #beginNoPark} has begun. */
  public static boolean endNoPark(@Nullable WorkerCounts here) {
    if (here != null && here.noParkSections > 0) { // 0 after a park, which has been reported
      here.noParkSections--;
    }
    return true;
  }

  /** Called after each slice: reports a park inside a section without one. */
  final boolean checkNoPark(FiberCore<?> fiber) {
    if (noParkSections != 0) {
      noParkSections = 0;
      String fault =
          Faults.record(
              "%s parked on thread %d of %s in a section in which it must stay on its worker"
                  .formatted(fiber, index, scheduler));
      Log.logger().log(Level.ERROR, fault);
    }
    return true;
  }
}
