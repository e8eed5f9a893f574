package dev.weft;

import dev.weft.internal.Nanos;
import dev.weft.internal.timer.TimerNode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A limit on what the current thread does between {@link #start} and {@link #finish}: when the time
 * is over the thread is interrupted, and if it is a fiber each wait of it fails until finish.
 *
 * <p>Invariants: the deadlines of a thread that have not finished form a list, from its innermost
 * along outer. Whoever takes the state away from RUNNING decides. If the timer does, finish waits
 * for its interrupt and takes it back, so that none is left over; unless another of the list is
 * over too, which then still has to be noticed, or somebody else's interrupt came first and the
 * body has not noticed that. (When two are over at once we cannot tell whose it was, and take it
 * for ours.)
 */
final class Deadline extends TimerNode {
  private static final int RUNNING = 0;
  private static final int EXPIRING = 1;
  private static final int EXPIRED = 2;
  private static final int FINISHED = 3;
  private static final ThreadLocal<@Nullable Deadline> OF_PLAIN_THREADS = new ThreadLocal<>();
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Deadline.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Thread thread = Thread.currentThread();
  private final @Nullable Fiber<?> fiber = Fiber.currentOrNull();

  // the one around it; this thread only
  private @Nullable Deadline outer = innermost();

  private final long time;

  // where the timer is; changed by the thread itself
  private Worker worker;

  // whether somebody else had interrupted the thread; written by the timer before EXPIRED
  private boolean interruptedBefore;

  @SuppressWarnings("unused")
  private volatile int state = RUNNING;

  private Deadline(long nanos) {
    worker = fiber != null ? fiber.worker : Scheduler.shared().placement.forNew(null);
    time = worker.scheduler.clock.nanoTime() + nanos;
  }

  static Deadline start(Duration limit) {
    Deadline deadline = new Deadline(Nanos.of(limit));
    deadline.setInnermost(deadline);
    deadline.worker.add(deadline, deadline.time);
    return deadline;
  }

  /** Moves the timers of a deadline and of those around it; called by the fiber as it moves. */
  static void move(@Nullable Deadline innermost, Worker target) {
    for (Deadline deadline = innermost; deadline != null; deadline = deadline.outer) {
      if (deadline.worker.remove(deadline)) {
        deadline.worker = target;
        target.add(deadline, deadline.time);
      }
    }
  }

  /** Returns whether the time was over before this was called. */
  boolean finish() {
    unlink();
    if (STATE.compareAndSet(this, RUNNING, FINISHED)) {
      worker.remove(this);
      return false;
    }
    awaitInterrupt();
    boolean unnoticed = Thread.interrupted();
    boolean anotherIsOver = lookAtOthers();
    if (fiber != null) {
      fiber.deadlineNoticed();
    }
    if (anotherIsOver || (unnoticed && interruptedBefore)) {
      thread.interrupt();
    }
    return true;
  }

  private void awaitInterrupt() {
    while (state != EXPIRED) {
      Thread.onSpinWait();
    }
  }

  /** Takes it out of the list: as a rule the first, but coroutines may finish in any order. */
  private void unlink() {
    Deadline inner = innermost();
    if (inner == this) {
      setInnermost(outer);
      return;
    }
    while (inner != null && inner.outer != this) {
      inner = inner.outer;
    }
    if (inner != null) {
      inner.outer = outer;
    }
  }

  /** Returns whether another one is over too; the interrupt it has seen may have been ours. */
  private boolean lookAtOthers() {
    boolean over = false;
    for (Deadline other = innermost(); other != null; other = other.outer) {
      if (other.state != RUNNING) {
        other.awaitInterrupt();
        other.interruptedBefore = false;
        over = true;
      }
    }
    return over;
  }

  private @Nullable Deadline innermost() {
    return fiber != null ? fiber.deadline : OF_PLAIN_THREADS.get();
  }

  private void setInnermost(@Nullable Deadline deadline) {
    if (fiber != null) {
      fiber.deadline = deadline;
    } else if (deadline != null) {
      OF_PLAIN_THREADS.set(deadline);
    } else {
      OF_PLAIN_THREADS.remove();
    }
  }

  @Override
  public void onExpired() {
    if (STATE.compareAndSet(this, RUNNING, EXPIRING)) {
      if (fiber != null) {
        fiber.deadlineExpired();
      }
      interruptedBefore = thread.isInterrupted();
      thread.interrupt();
      state = EXPIRED;
    }
  }
}
