package dev.weft.internal.sched;

import dev.weft.Body;
import dev.weft.FiberOptions;
import dev.weft.internal.Nanos;
import dev.weft.internal.timer.TimerNode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A time limit on the current thread from {@link #start} to {@link #finish}. When the limit passes,
 * its timer interrupts the thread and cancels the scopes that were opened inside the limit; if the
 * thread is a fiber, each of its waits fails until finish. The deadlines that a coroutine has
 * started are not in force while it is suspended: see {@link #leave}. A shield inside the limit
 * holds all of this back: see {@link OpenBlocks}.
 *
 * <p>Invariants: the deadlines of a thread that have not finished form a list, from its innermost
 * along outer; the deadlines of a suspended coroutine are a list of their own. The compare-and-set
 * of the state away from RUNNING decides whether the limit passed. If the timer won, finish waits
 * until the timer has sent its interrupt and clears that, so that none is left over; unless another
 * deadline of the list has passed too, which the body has yet to notice, or a foreign interrupt
 * came first and the body has not noticed it. (If two deadlines have passed, an interrupt does not
 * say which of them sent it: finish attributes it to its own.)
 */
public final class Deadline extends TimerNode {
  private static final int RUNNING = 0;
  private static final int EXPIRING = 1;
  private static final int EXPIRED = 2;
  private static final int FINISHED = 3; // also while its coroutine is suspended
  private static final FiberOptions CANCELLER = FiberOptions.named("deadline");
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Deadline.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Thread thread = Thread.currentThread();
  private final @Nullable FiberCore<?> fiber = FiberCore.currentOrNull();
  private final @Nullable CoroutineBlocks coroutine = CoroutineBlocks.current();

  // changed by the thread itself, before the state is RUNNING
  private OpenBlocks blocks = OpenBlocks.of(fiber);
  private int depth = blocks.shields();

  // the deadline around it; changed by the thread itself, when a coroutine is suspended or resumed
  private @Nullable Deadline outer = blocks.deadline();

  private final long time;

  // the worker that has the timer; changed by the thread itself
  private Worker worker;

  // whether the thread was interrupted before this deadline interrupted it; written by the timer
  // before EXPIRED, then by the thread itself
  private boolean interruptedBefore;

  @SuppressWarnings("unused")
  private volatile int state = RUNNING;

  private Deadline(long nanos) {
    worker = place();
    time = worker.scheduler.clock.nanoTime() + nanos;
  }

  public static Deadline start(Duration limit) {
    Deadline deadline = new Deadline(Nanos.of(limit));
    deadline.blocks.setDeadline(deadline);
    if (deadline.coroutine != null) {
      deadline.coroutine.limits++;
    }
    deadline.worker.add(deadline, deadline.time);
    return deadline;
  }

  /** Moves the timers of a fiber's deadlines; called by the fiber as it moves. */
  static void move(@Nullable OpenBlocks blocks, Worker target) {
    Deadline innermost = blocks == null ? null : blocks.deadline();
    for (Deadline deadline = innermost; deadline != null; deadline = deadline.outer) {
      if (deadline.worker.remove(deadline)) {
        deadline.worker = target;
        target.add(deadline, deadline.time);
      }
    }
  }

  /** Ends the limit; returns whether it had passed. */
  public boolean finish() {
    blocks.setDeadline(outer);
    if (coroutine != null) {
      coroutine.limits--;
    }
    return !endBeforeTime();
  }

  // ---- coroutines ----

  /**
   * Takes the deadlines of a coroutine that has just been suspended off this thread: they are its
   * innermost ones. Returns the innermost of them.
   */
  static @Nullable Deadline leave(CoroutineBlocks coroutine, OpenBlocks blocks) {
    int depthOutside = blocks.shields() - coroutine.shields;
    Deadline first = null;
    Deadline last = null;
    Deadline one = blocks.deadline();
    for (; one != null && one.coroutine == coroutine; one = one.outer) {
      blocks.setDeadline(one.outer);
      one.endBeforeTime();
      one.depth -= depthOutside;
      first = first == null ? one : first;
      last = one;
    }
    if (last != null) {
      last.outer = null;
    }
    return first;
  }

  /** Puts the deadlines of a coroutine back when it is resumed; some may pass at once. */
  static void enter(@Nullable Deadline first, OpenBlocks blocks, int depthOutside) {
    Deadline around = blocks.deadline();
    Deadline last = null;
    for (Deadline one = first; one != null; one = one.outer) {
      one.goOn(blocks, depthOutside);
      last = one;
    }
    if (last != null) {
      last.outer = around;
      blocks.setDeadline(first);
    }
  }

  private void goOn(OpenBlocks resumed, int depthOutside) {
    blocks = resumed;
    depth += depthOutside;
    worker = place();
    state = RUNNING;
    if (time - worker.scheduler.clock.nanoTime() <= 0) {
      onExpired();
    } else {
      worker.add(this, time);
    }
  }

  // ---- the end ----

  /** Ends it; if it has passed, clears its interrupt and returns false. */
  private boolean endBeforeTime() {
    if (STATE.compareAndSet(this, RUNNING, FINISHED)) {
      worker.remove(this);
      return true;
    }
    awaitInterruptSent();
    boolean unnoticed = isInForce() && Thread.interrupted();
    if (fiber != null) {
      fiber.deadlineFinished();
    }
    if (lookAtOthers()
        || (unnoticed && interruptedBefore)
        || (fiber != null && fiber.isCancelInForce())) {
      thread.interrupt();
    }
    return false;
  }

  /** Returns whether another deadline has passed too; it may have seen this one's interrupt. */
  private boolean lookAtOthers() {
    boolean over = false;
    for (Deadline other = blocks.deadline(); other != null; other = other.outer) {
      if (other.isInForce() && other.awaitInterruptSent()) {
        other.interruptedBefore = false;
        over = true;
      }
    }
    return over;
  }

  /**
   * If this deadline has passed, waits until the timer has sent the interrupt, and returns true.
   */
  boolean awaitInterruptSent() {
    if (!hasPassed()) {
      return false;
    }
    while (state == EXPIRING) {
      Thread.onSpinWait();
    }
    return true;
  }

  /** Called by the thread after it has passed: whether a foreign interrupt is pending as well. */
  void setInterruptedBefore(boolean foreign) {
    interruptedBefore = foreign;
  }

  boolean interruptedBefore() {
    return interruptedBefore;
  }

  // ---- looks ----

  boolean hasPassed() {
    return state != RUNNING;
  }

  /** Returns whether no shield holds it back: it then interrupts, and fails waits. */
  boolean isInForce() {
    return blocks.shields() <= depth;
  }

  int depth() {
    return depth;
  }

  @Nullable Deadline outer() {
    return outer;
  }

  /** Returns whether this is the given deadline, or inside it. */
  boolean isWithin(Deadline other) {
    for (Deadline one = this; one != null; one = one.outer) {
      if (one == other) {
        return true;
      }
    }
    return false;
  }

  private Worker place() {
    return fiber != null ? fiber.worker : SchedulerCore.shared().placement.forNew(null);
  }

  // ---- the timer ----

  /** Called between slices, where nothing may wait. */
  @Override
  public void onExpired() {
    // Read before the state changes: a fiber that sees the limit pass may interrupt itself, as a
    // join that is cut short does, and that must not be taken for a foreign interrupt.
    boolean foreign = thread.isInterrupted();
    if (STATE.compareAndSet(this, RUNNING, EXPIRING)) {
      try {
        if (fiber != null) {
          fiber.deadlineExpired();
        }
        if (isInForce()) {
          interruptedBefore = foreign;
          thread.interrupt();
        }
      } finally {
        state = EXPIRED;
      }
      cancelScopesInside();
    }
  }

  /**
   * Starts a fiber that cancels them: the lock of a scope may be held, and a worker must not wait.
   */
  private void cancelScopesInside() {
    List<ScopeCore> inside = ScopeTree.inside(this, blocks);
    if (!inside.isEmpty()) {
      try {
        worker.scheduler.begin(CANCELLER, (Body) () -> ScopeTree.expireAll(inside));
      } catch (RejectedExecutionException e) {
        // The scheduler has stopped, and given up on the fiber that this deadline is for.
      }
    }
  }
}
