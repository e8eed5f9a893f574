package dev.weft.internal.sched;

import dev.weft.internal.events.FlightEvents;
import dev.weft.internal.sched.ComputingThreads.ComputingThread;
import org.jspecify.annotations.Nullable;

/**
 * A fiber that computes, set apart from the fibers of its scheduler so that they need not wait for
 * it: threads of their own run its slices, and the operating system divides the cores between these
 * and the workers. The fiber stays in its scheduler: counted, dumped, drained by stop().
 *
 * <pre>
 *   the watchdog sees a slice of 10 ms     ──► Worker.endSlice notes it in the fiber
 *   the second such slice within a second  ──► the fiber is set apart: away = this
 *   the fiber becomes ready                ──► takes: queued for the computing threads
 *   8 slices under 1 ms in a row, and      ──► away = null, and a worker runs the next slice
 *   a second without a slice of 10 ms;
 *   or schedule(fiber, thread) binds it
 * </pre>
 *
 * <p>The second is for fibers that serve requests: short waits, a long computation, and again. They
 * would come back in each request, and each of their computations would hold a worker.
 *
 * <p>Go preempts a goroutine after 10 ms instead; no library can do that to a thread of the JVM.
 * Never set apart: bound fibers, and fibers of a scheduler with one thread, which never run two at
 * once; and no fiber in the first two seconds, when classes are loaded. At most as many computing
 * threads run as there are cores; while slices without end hold them all, workers run the fibers.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>It is queued at most once, because only the thread that takes the fiber's turn queues it.
 *       Either a computing thread or a worker runs the slice then: {@link ComputingTask} decides.
 *   <li>{@link #thread} is set from before a slice until after it, so the fiber itself can tell
 *       where it runs.
 *   <li>away is set by the worker after a slice, and cleared by a computing thread after a slice,
 *       each before another thread can make the fiber ready; or, once the fiber has been bound, by
 *       the thread that queues it.
 * </ul>
 */
public final class SetApart extends ComputingTask implements Detour {
  /**
   * Two long slices are repeated if the second ends within this time, in {@link #tick}s; and a
   * fiber that had none for this time may go back.
   */
  private static final int AGAIN_TICKS = 1_000;

  /** For how long at the start of a program slices are long because classes are loaded. */
  private static final long START_NANOS = 2_000_000_000;

  private static final long LONG_NANOS = 10_000_000;
  private static final long SHORT_NANOS = 1_000_000;

  /** After how many short slices in a row a fiber goes back to its workers. */
  private static final int SHORT_SLICES = 8;

  private final FiberCore<?> fiber;

  // short slices in a row; the computing thread that runs the fiber only
  private int shortSlices;

  private volatile @Nullable Thread thread;

  // true once no more slices are to run here; set by the fiber, or by the thread that ran its slice
  private volatile boolean over;

  private SetApart(FiberCore<?> fiber) {
    this.fiber = fiber;
  }

  /** Notes a long slice that has just ended; sets the fiber apart if it was not the first. */
  static void noteLongSlice(FiberCore<?> fiber, long now) {
    int last = fiber.lastLongSlice;
    int tick = tick(now);
    fiber.lastLongSlice = tick;
    if (now - SchedulerConfig.FIRST_USE > START_NANOS
        && last != 0
        && tick - last < AGAIN_TICKS
        && fiber.away == null
        && !fiber.isBound()
        && ComputingThreads.prepare()) {
      fiber.away = new SetApart(fiber);
      FlightEvents.setApart(fiber, true);
    }
  }

  /** Returns a time in steps of about a millisecond; never 0. */
  private static int tick(long nanos) {
    return (int) (nanos >> 20) | 1;
  }

  /** Lets the fiber, the current one, go on on a worker; unless a native frame pins it. */
  void end() {
    if (thread == null) { // a worker runs it, in place of the computing threads
      goBack();
      return;
    }
    over = true;
    Thread.yield();
  }

  // ---- called by threads that make the fiber ready ----

  @Override
  public boolean takes() {
    if (fiber.isBound()) { // by schedule(fiber, thread)
      goBack();
      return false;
    }
    return !over && ComputingThreads.execute(this);
  }

  /** Queues the fiber, which was in the queue of the computing threads, at a worker. */
  void giveToWorker() {
    if (takeBack()) {
      fiber.enqueue(null);
    }
  }

  // ---- the computing thread's side ----

  /** Runs a slice of the fiber. */
  @Override
  void runOffered() {
    if (fiber.core().hasStopped()) {
      return; // the scheduler has given up on the fiber, which never runs again
    }
    long began = System.nanoTime();
    ComputingThread here = (ComputingThread) Thread.currentThread();
    thread = here;
    here.beginSlice(fiber);
    Slice.enter(fiber, fiber.worker);
    Object event = FlightEvents.recording() ? FlightEvents.beginSlice() : null;
    int end = Slice.run(fiber);
    if (event != null) {
      FlightEvents.endSlice(event, -1, fiber);
    }
    here.endSlice();
    thread = null;
    long now = System.nanoTime();
    if (noteSlice(now - began, tick(now)) || over) {
      over = true;
      goBack();
    }
    if (Slice.isLast(fiber, end)) {
      fiber.core().retireOutside(fiber);
    } else if (Slice.leave(fiber, end, now)) {
      fiber.enqueue(null);
    }
  }

  /** Notes the length of a slice; returns whether the fiber is to go back. */
  private boolean noteSlice(long nanos, int tick) {
    if (nanos >= LONG_NANOS) {
      fiber.lastLongSlice = tick;
    }
    shortSlices = nanos < SHORT_NANOS ? shortSlices + 1 : 0;
    return shortSlices >= SHORT_SLICES && tick - fiber.lastLongSlice >= AGAIN_TICKS;
  }

  /** Has workers run the next slices. Does not throw, or the fiber would be lost. */
  private void goBack() {
    fiber.away = null;
    try {
      FlightEvents.setApart(fiber, false);
    } catch (OutOfMemoryError e) {
      fiber.worker.noteFailure(e);
    }
  }

  // ---- looks ----

  @Override
  public boolean isOnHelper() {
    return thread != null;
  }

  @Override
  public boolean pins() {
    return false;
  }

  /** Returns false: a fiber that is ready to compute is ready, not waiting. */
  @Override
  public boolean isWaiting() {
    return false;
  }

  @Override
  public String helperName() {
    Thread at = thread;
    return at == null ? "" : at.getName();
  }
}
