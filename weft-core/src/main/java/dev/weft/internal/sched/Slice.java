package dev.weft.internal.sched;

import static dev.weft.internal.sched.Outcome.NULL_RESULT;

import dev.weft.Body;
import dev.weft.internal.events.FlightEvents;
import dev.weft.internal.switching.Mounting;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * One slice of a fiber, from where a worker takes the fiber out of a ready queue to where the fiber
 * parks, yields or ends. Everything that happens around the code of the user is here, in the order
 * in which it happens; {@link Worker} only loops and {@link FiberCore} only answers.
 *
 * <pre>
 *   Worker.runBatch ─┬► runOn(worker, fiber)
 *                    │    enter      the turn is RUNNING, the worker publishes the fiber's id
 *                    │    run        mounts the thread; the first time starts it: start
 *                    │      └─ runBody   inside the virtual thread: the user's code, then end
 *                    └► leaveOn(worker, fiber, end)
 *                         isLast     the thread has ended: the worker forgets the fiber
 *                         leave      parked: IDLE, or ready again at once
 *                                    yielded: the worker puts it back, or it moves
 * </pre>
 *
 * <p>Two halves, because the JIT inlines no method whose own code is larger than 2,500 bytes
 * (HotSpot's {@code InlineSmallCode}): in one piece it was, and a slice cost 7 ns more.
 *
 * <p>A helper thread runs slices of a fiber in a blocking call by the same four steps.
 *
 * <p>Invariant: from enter to leave nothing is thrown past the fiber. Foreign code, the Flight
 * Recorder and the user's ready queue, is called in a try of its own.
 */
public final class Slice {
  private Slice() {}

  /** Runs a slice on a worker; returns how it has ended, for {@link #leaveOn}. */
  static int runOn(Worker worker, FiberCore<?> fiber) {
    enter(fiber, worker);
    worker.beginSlice(fiber);
    Object event = FlightEvents.recording() ? beginEvents(fiber) : null;
    int end = run(fiber);
    if (event != null) {
      FlightEvents.endSlice(event, worker.index, fiber);
    }
    worker.endSlice(fiber, event != null);
    return end;
  }

  /**
   * Leaves a slice that a worker has run; returns whether the worker is to put the fiber back into
   * its ready queue.
   *
   * @param end what {@link #runOn} returned
   */
  static boolean leaveOn(Worker worker, FiberCore<?> fiber, int end) {
    if (isLast(fiber, end)) {
      worker.retire(fiber);
      return false;
    }
    return leave(fiber, end, worker.now()) && worker.keepsReady(fiber);
  }

  private static @Nullable Object beginEvents(FiberCore<?> fiber) {
    FlightEvents.recordPark(fiber, () -> Mounting.stackOf(fiber.ownThread()));
    return FlightEvents.beginSlice();
  }

  // ---- enter ----

  /** Records that a worker, or a helper in its place, has taken the fiber. */
  public static void enter(FiberCore<?> fiber, Worker taker) {
    if (fiber.worker != taker) { // Check first: a store into an old object has a barrier.
      fiber.worker = taker;
    }
    FiberCore.TURN.setRelease(fiber, FiberCore.RUNNING);
  }

  // ---- run ----

  /** Runs the fiber's thread until it parks, yields or ends; returns which: see Mounting.run. */
  public static int run(FiberCore<?> fiber) {
    try {
      return runOrThrow(fiber);
    } catch (Throwable e) { // a failure of the JDK: leave() queues the fiber if it can go on
      fiber.worker.noteFailure(e);
      return Mounting.LEFT;
    }
  }

  private static int runOrThrow(FiberCore<?> fiber) {
    Runnable slice = fiber.sliceOrNull();
    if (slice == null) {
      slice = start(fiber);
    }
    if (slice != null) {
      try {
        return Mounting.run(fiber.ownThread(), slice);
      } catch (Throwable e) { // a failure of the JDK: runBody catches what the body throws
        fiber.core().unobserved.report(fiber, e);
      }
    }
    return Mounting.LEFT;
  }

  /**
   * Starts the thread and returns its first slice. Ends the fiber and returns null if it was
   * cancelled before its first slice, or if its thread cannot be started. Returns null too while
   * another thread is in {@link FiberCore#thread}, which starts it and makes the fiber ready.
   */
  private static @Nullable Runnable start(FiberCore<?> fiber) {
    Object result = NULL_RESULT;
    if (!fiber.isCancelling() || fiber.hasWaiters()) { // callbacks have to run in a fiber
      try {
        if (fiber.startThread()) {
          return fiber.sliceOrNull();
        }
        result = Outcome.failed(new IllegalStateException("no memory for the thread of " + fiber));
      } catch (Throwable e) { // no memory for a thread, or a failure of the JDK
        result = Outcome.failed(e);
      }
    }
    if (fiber.endWithoutThread() || hasFailedToStart(fiber)) {
      fiber.body = null;
      end(fiber, result);
      fiber.setOver();
    }
    return null;
  }

  private static boolean hasFailedToStart(FiberCore<?> fiber) {
    return fiber.sliceOrNull() == null && Mounting.hasEnded(fiber.ownThread());
  }

  /** Runs the body; called by the {@link FiberExecutor}, inside the virtual thread. */
  static void runBody(FiberCore<?> fiber) {
    Object result;
    Object todo = fiber.unpreparedBody();
    if (todo instanceof ScopeCore.Inheriting inheriting) {
      todo = inheriting.body();
    }
    fiber.body = null;
    try {
      if (fiber.isCancelling()) {
        result = NULL_RESULT;
      } else if (todo instanceof Callable<?> callable) {
        Object value = callable.call();
        result = value == null ? NULL_RESULT : value;
      } else {
        ((Body) todo).run();
        result = NULL_RESULT;
      }
    } catch (Throwable e) {
      result = Outcome.failed(e);
    }
    fiber.enableHookAgain();
    try {
      // The check is here and not in ScopeTree: without memory that class may not load.
      end(fiber, fiber.hasOpenScope() ? ScopeTree.closeLeftOpen(fiber, result) : result);
    } finally {
      fiber.setOver();
    }
  }

  // ---- leave ----

  /**
   * Leaves a slice that was not the last; returns whether the fiber can go on, so that the caller
   * has to queue it.
   *
   * <p>After a switch by Weft ({@link Mounting}) no thread can make the fiber ready before {@link
   * Mounting#leave} is called here. After a switch by the JDK another thread may have made the
   * fiber ready too early. VirtualThread.tryGetStackTrace suspends a ready thread, resumes it and
   * submits it, which reads the turn; the worker sets the turn to RUNNING, finds the thread
   * suspended and runs an empty slice. Each may miss the other. But once the turn is IDLE, with a
   * fence, the worker sees in canGoOn that the thread is ready.
   */
  public static boolean leave(FiberCore<?> fiber, int end, long now) {
    fiber.since = now;
    if (end == Mounting.PARKS) {
      FiberCore.TURN.setRelease(fiber, FiberCore.IDLE); // before another thread can make it ready
      if (Mounting.leave(fiber.ownThread(), end)) {
        fiber.becomeReady();
      }
      return false;
    }
    if (end == Mounting.YIELDS) {
      FiberCore.TURN.setRelease(fiber, FiberCore.QUEUED);
      return Mounting.leave(fiber.ownThread(), end);
    }
    if (Mounting.isReadyButLookedAt(fiber.ownThread())) {
      fiber.awaitResubmission();
    }
    if (fiber.leaveRunning()) {
      if (Mounting.canGoOn(fiber.ownThread())) {
        fiber.becomeReady();
      }
      return false;
    }
    FiberCore.TURN.setRelease(fiber, FiberCore.QUEUED);
    return true;
  }

  // ---- end ----

  /**
   * Returns whether the slice was the fiber's last; no worker runs the fiber again then.
   *
   * @param end what {@link #run} returned
   */
  public static boolean isLast(FiberCore<?> fiber, int end) {
    if (end != Mounting.LEFT || !hasEnded(fiber)) {
      return false;
    }
    FiberCore.TURN.setVolatile(fiber, FiberCore.OVER);
    FlightEvents.ended(fiber);
    return true;
  }

  /**
   * Returns whether the thread has ended, which is later than the end of the body: the JDK closes
   * the {@code StructuredTaskScope}s that the body has left open, and that may wait.
   */
  private static boolean hasEnded(FiberCore<?> fiber) {
    if (!fiber.isOver() && !fiber.isGuest()) {
      return false;
    }
    Thread own = fiber.ownThread();
    if (own != FiberThread.NO_THREAD && !Mounting.hasEnded(own)) {
      return false;
    }
    if (fiber.isGuest()) {
      end(fiber, NULL_RESULT);
      if (fiber.hasOpenScope()) {
        ScopeTree.cancelLeftOpen(fiber);
      }
    } else {
      fiber.dropThread(own);
    }
    return true;
  }

  /** Records how the fiber ended and wakes the callers of join; allocates nothing. */
  private static void end(FiberCore<?> fiber, Object result) {
    Throwable unobserved = fiber.recordEnd(result);
    if (unobserved != null) {
      fiber.keepThread(); // the handler of uncaught failures gets the thread
      fiber.core().unobserved.add(fiber, unobserved);
    }
  }
}
