package dev.weft;

import dev.weft.internal.jdk.Pinning;
import dev.weft.internal.jdk.Slices;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The way of a fiber to a helper thread and back: see {@link Weft#blocking}.
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
 *   <li>While the call is TAKEN, whoever makes the fiber ready, or finds it ready when it leaves
 *       its slice, hands it to the helper and to nobody else; in all other states to its scheduler.
 *       So a helper depends on no worker for a fiber that is parked.
 *   <li>The helper runs slices of the fiber until the call is OVER: more than one, for the JDK may
 *       hand out a slice in which nothing runs (see the turns in {@link Fiber}).
 *   <li>{@link #onHelper} is true from before such a slice until after it, so the fiber itself can
 *       tell where it runs.
 * </ul>
 */
final class BlockingCall implements Runnable {
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

  /** How often a helper that waits for its fiber looks whether that will come at all. */
  private static final long LOOK_NANOS = 100_000_000;

  private final Fiber<?> fiber;
  private final Helpers helpers;
  private final boolean interruptible;
  private final AtomicReference<State> state = new AtomicReference<>(State.QUEUED);

  // who has taken it; set before it is TAKEN
  private volatile @Nullable Thread helper;

  // true when the fiber is ready and the helper's to run
  private volatile boolean handedOver;

  private volatile boolean onHelper;

  private BlockingCall(Fiber<?> fiber, Helpers helpers, boolean interruptible) {
    this.fiber = fiber;
    this.helpers = helpers;
    this.interruptible = interruptible;
  }

  // ---- the fiber's side ----

  /**
   * Runs the body on a helper thread: the current fiber goes there and comes back. Where it is if
   * it is on one, cannot leave its thread, or no helper can be had.
   *
   * @param self the fiber that calls
   * @param interruptible whether to be a cancel point before the body
   */
  static <T> T run(Fiber<?> self, Helpers helpers, boolean interruptible, Callable<T> body)
      throws Exception {
    if (interruptible) {
      Fiber.throwIfInterrupted(self);
    }
    if (!self.canLeaveThread()) {
      return body.call();
    }
    BlockingCall call = new BlockingCall(self, helpers, interruptible);
    try {
      call.go();
      boolean pinned = call.onHelper && Pinning.begin();
      try {
        if (interruptible) {
          Fiber.throwIfInterrupted(self); // it may have waited long
        }
        return body.call();
      } finally {
        Pinning.end(pinned);
      }
    } finally {
      call.comeBack();
    }
  }

  /** Waits for a helper and goes there; returns where it was if that cannot be. */
  private void go() throws InterruptedException {
    fiber.away = this;
    if (!helpers.submit(this)) {
      state.set(State.OVER);
      return;
    }
    awaitHelper();
    if (!onHelper) {
      Thread.yield(); // taken before it was parked: see takes
    }
    if (!onHelper) {
      letGo(); // a native frame pins it to its thread
    }
  }

  private void awaitHelper() throws InterruptedException {
    boolean interrupted = false;
    try {
      while (state.get() == State.QUEUED) {
        Slices.park(this);
        if (!interruptible) {
          interrupted |= Thread.interrupted();
        } else if (Thread.currentThread().isInterrupted()) {
          if (state.compareAndSet(State.QUEUED, State.OVER)) {
            helpers.remove(this);
            Fiber.throwIfInterrupted(fiber);
          }
          return; // taken: it is thrown there
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
      Thread.yield(); // comes back where it belongs, unless its body has left it pinned
    } else {
      letGo();
    }
    if (!onHelper) {
      fiber.away = null;
    }
  }

  /** Tells the helper, if any, that the fiber will not come. */
  private void letGo() {
    State before = state.getAndSet(State.OVER);
    if (before == State.QUEUED) {
      helpers.remove(this);
    } else if (before == State.TAKEN) {
      LockSupport.unpark(helper);
    }
  }

  // ---- the side of those who make the fiber ready ----

  /** Gives the ready fiber to the helper that has taken this call; returns false if none has. */
  boolean takes() {
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
    if (fiber.scheduler().hasStopped()) {
      return; // it has given up on the fiber, and nobody runs it any more
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

  /** Waits until the fiber is handed over; returns false if it will not be. */
  private boolean awaitFiber() {
    while (!handedOver) {
      if (state.get() == State.OVER) {
        return false;
      }
      if (fiber.scheduler().hasStopped()) {
        state.set(State.OVER);
        return false;
      }
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
    handedOver = false;
    return true;
  }

  /** Runs a slice of the fiber; returns whether more of it is to be run here. */
  private boolean runSlice() {
    fiber.enterSlice(fiber.worker);
    onHelper = true;
    Object event = FlightEvents.recording() ? FlightEvents.beginBlockingCall() : null;
    int end = fiber.runSlice();
    if (event != null) {
      FlightEvents.endBlockingCall(event, fiber);
    }
    onHelper = false;
    boolean stays = state.get() == State.TAKEN; // asked before others can run it
    if (fiber.leaveLastSlice(end)) {
      FlightEvents.ended(fiber);
      Worker.unregister(fiber);
      fiber.scheduler().countEnded();
      return false;
    }
    if (fiber.leaveSlice(end, fiber.scheduler().clock.nanoTime())) {
      if (stays) {
        handedOver = true;
      } else {
        fiber.enqueue(null);
      }
    }
    return stays;
  }

  // ---- looks ----

  boolean isOnHelper() {
    return onHelper;
  }

  /** Returns whether the fiber waits for a helper. */
  boolean isWaiting() {
    return !onHelper && state.get() != State.OVER;
  }

  /** Returns the name of the helper thread that runs the fiber; empty if none does. */
  String helperName() {
    Thread at = helper;
    return onHelper && at != null ? at.getName() : "";
  }

  /** What the fiber waits for, in dumps. */
  @Override
  public String toString() {
    return "a helper thread";
  }
}
