package dev.weft.internal.blocking;

import dev.weft.internal.events.FlightEvents;
import dev.weft.internal.sched.Detour;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.Slice;
import dev.weft.internal.switching.Mounting;
import dev.weft.internal.switching.Pinning;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The way of a fiber to a helper thread and back: see {@link dev.weft.Weft#blocking}.
 *
 * <pre>
 *   its worker   ── queues the call, parks ─┐                            ┌─ goes on ──►
 *                                           │ taken, unparked            │ yields
 *   a helper                                └──► pinned: body ── unpinned ┘
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>While the call is TAKEN, a thread that makes the fiber ready, or finds it ready at the end
 *       of its slice, hands it to the helper only; in all other states to its scheduler. So the
 *       helper needs no worker to get a parked fiber.
 *   <li>The helper runs slices of the fiber until the call is OVER: maybe several, because the JDK
 *       may submit a slice in which nothing runs (see the turn in {@link FiberCore}).
 *   <li>{@link #onHelper} is true from before such a slice until after it, so the fiber itself can
 *       tell where it runs.
 * </ul>
 */
public final class BlockingCall implements Detour, Runnable {
  /*
   * QUEUED -> TAKEN   // by a helper, which then waits for the fiber
   * QUEUED -> OVER    // by the fiber: it has been cancelled, or there is no helper
   *  TAKEN -> OVER    // by the fiber: its body has ended, or it cannot leave its thread;
   *                   // by the helper: the fiber's scheduler has given up on it
   */
  private enum State {
    QUEUED,
    TAKEN,
    OVER
  }

  /** How often a helper that waits for its fiber checks whether the scheduler has stopped. */
  private static final long LOOK_NANOS = 100_000_000;

  private final FiberCore<?> fiber;
  private final Helpers helpers;
  private final boolean interruptible;
  private final AtomicReference<State> state = new AtomicReference<>(State.QUEUED);

  // the helper that has taken it; set before it is TAKEN
  private volatile @Nullable Thread helper;

  // true when the fiber is ready and the helper has to run it
  private volatile boolean handedOver;

  private volatile boolean onHelper;

  private BlockingCall(FiberCore<?> fiber, Helpers helpers, boolean interruptible) {
    this.fiber = fiber;
    this.helpers = helpers;
    this.interruptible = interruptible;
  }

  // ---- the fiber's side ----

  /**
   * Runs the body on a helper thread: the current fiber goes there and comes back. Runs the body in
   * place if the fiber is on a helper already or pinned, if no helper thread can be started, or in
   * a simulated world, where one thread runs everything.
   *
   * @param self the fiber that calls
   * @param interruptible whether to be a cancel point before the body
   */
  public static <T> T run(
      FiberCore<?> self, Helpers helpers, boolean interruptible, Callable<T> body)
      throws Exception {
    if (interruptible) {
      FiberCore.throwIfInterrupted(self);
    }
    self.returnToWorker();
    if (!self.canLeaveThread() || self.isOnHelper() || self.core().world != null) {
      return body.call();
    }
    BlockingCall call = new BlockingCall(self, helpers, interruptible);
    try {
      call.go();
      boolean pinned = call.onHelper && Pinning.begin();
      try {
        if (interruptible) {
          FiberCore.throwIfInterrupted(self); // it may have waited long for a helper
        }
        return call.record(body);
      } finally {
        Pinning.end(pinned);
      }
    } finally {
      call.comeBack();
    }
  }

  /** Runs the body; an event has the stack of this fiber, and the helper that it holds. */
  private <T> T record(Callable<T> body) throws Exception {
    Object event = onHelper && FlightEvents.recording() ? FlightEvents.beginBlockingCall() : null;
    try {
      return body.call();
    } finally {
      if (event != null) {
        FlightEvents.endBlockingCall(event, fiber, helperName());
      }
    }
  }

  /**
   * Runs the body as {@link dev.weft.Weft#blocking} does, but without being a cancel point: the
   * caller goes on waiting for a helper thread, and an interrupt status is kept. Outside fibers the
   * body runs right here.
   */
  public static <T> T runUninterrupted(Callable<T> body) throws Exception {
    FiberCore<?> self = FiberCore.currentOrNull();
    return self == null ? body.call() : run(self, Helpers.ofJvm(), false, body);
  }

  /** Waits for a helper and moves there; returns on its worker if that is not possible. */
  private void go() throws InterruptedException {
    fiber.away = this;
    if (!helpers.submit(this)) {
      state.set(State.OVER);
      return;
    }
    awaitHelper();
    if (!onHelper) {
      Thread.yield(); // the helper took the call before the fiber had parked: see takes
    }
    if (!onHelper) {
      letGo(); // a native frame pins the fiber to its worker
    }
  }

  private void awaitHelper() throws InterruptedException {
    boolean interrupted = false;
    try {
      while (state.get() == State.QUEUED) {
        Mounting.park(this);
        if (!interruptible) {
          interrupted |= Thread.interrupted();
        } else if (Thread.currentThread().isInterrupted()) {
          if (state.compareAndSet(State.QUEUED, State.OVER)) {
            helpers.remove(this);
            FiberCore.throwIfInterrupted(fiber);
          }
          return; // taken meanwhile: run() throws on the helper
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Leaves the helper; does nothing if this fiber is not on one. */
  private void comeBack() {
    if (onHelper) {
      state.set(State.OVER);
      Thread.yield(); // returns on its worker, unless the body has left the fiber pinned
    } else {
      letGo();
    }
    if (!onHelper) {
      fiber.away = null;
    }
  }

  /** Withdraws the call; a helper that has taken it stops waiting for the fiber. */
  private void letGo() {
    State before = state.getAndSet(State.OVER);
    if (before == State.QUEUED) {
      helpers.remove(this);
    } else if (before == State.TAKEN) {
      LockSupport.unpark(helper);
    }
  }

  // ---- called by threads that make the fiber ready ----

  @Override
  public boolean takes() {
    if (state.get() != State.TAKEN) {
      return false;
    }
    handedOver = true;
    LockSupport.unpark(helper);
    return true;
  }

  // ---- the helper's side ----

  @Override
  public void run() {
    if (fiber.core().hasStopped()) {
      return; // the scheduler has given up on the fiber, which never runs again
    }
    helper = Thread.currentThread();
    if (!state.compareAndSet(State.QUEUED, State.TAKEN)) {
      return;
    }
    LockSupport.unpark(fiber.threadOrNull());
    do {
      if (!awaitFiber()) {
        return;
      }
    } while (runSlice());
  }

  /** Waits until the fiber is handed over; returns false if the call is over before. */
  private boolean awaitFiber() {
    while (!handedOver) {
      if (state.get() == State.OVER) {
        return false;
      }
      if (fiber.core().hasStopped()) {
        state.set(State.OVER);
        return false;
      }
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
    handedOver = false;
    return true;
  }

  /** Runs a slice of the fiber; returns whether the helper has to run more slices. */
  private boolean runSlice() {
    Slice.enter(fiber, fiber.worker);
    onHelper = true;
    int end = Slice.run(fiber);
    onHelper = false;
    boolean stays = state.get() == State.TAKEN; // read before another thread can run the fiber
    if (Slice.isLast(fiber, end)) {
      fiber.core().retireOutside(fiber);
      return false;
    }
    if (Slice.leave(fiber, end, fiber.core().clock.nanoTime())) {
      if (stays) {
        handedOver = true;
      } else {
        fiber.enqueue(null);
      }
    }
    return stays;
  }

  // ---- looks ----

  @Override
  public boolean isOnHelper() {
    return onHelper;
  }

  @Override
  public boolean pins() {
    return true;
  }

  @Override
  public boolean isWaiting() {
    return !onHelper && state.get() != State.OVER;
  }

  @Override
  public String helperName() {
    Thread at = helper;
    return onHelper && at != null ? at.getName() : "";
  }

  /** What the fiber waits for, in dumps. */
  @Override
  public String toString() {
    return "a helper thread";
  }
}
