package dev.weft;

import dev.weft.internal.Nanos;
import dev.weft.internal.timer.TimerNode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A limit on what the current thread does between {@link #start} and {@link #finish}: when the time
 * is over the thread is interrupted, and if it is a fiber each wait of it fails until finish. While
 * a coroutine is suspended, what it began is no limit on those who go on: see {@link #leave}.
 *
 * <p>Invariants: the deadlines of a thread that have not finished form a list, from its innermost
 * along outer; those of a coroutine that is suspended are a list of its own. Whoever takes the
 * state away from RUNNING decides. If the timer does, finish waits for its interrupt and takes it
 * back, so that none is left over; unless another of the list is over too, which then still has to
 * be noticed, or somebody else's interrupt came first and the body has not noticed that. (When two
 * are over at once we cannot tell whose it was, and take it for ours.)
 */
final class Deadline extends TimerNode {
  private static final int RUNNING = 0;
  private static final int EXPIRING = 1;
  private static final int EXPIRED = 2;
  private static final int FINISHED = 3; // or not in force, its coroutine being suspended
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
  private final @Nullable Coroutine coroutine = Coroutine.currentOrNull();

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
    worker = place();
    time = worker.scheduler.clock.nanoTime() + nanos;
  }

  static Deadline start(Duration limit) {
    Deadline deadline = new Deadline(Nanos.of(limit));
    deadline.setInnermost(deadline);
    if (deadline.coroutine != null) {
      deadline.coroutine.limits++;
    }
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
    setInnermost(outer);
    if (coroutine != null) {
      coroutine.limits--;
    }
    return !endBeforeTime();
  }

  /**
   * Takes the deadlines of a coroutine that has just been suspended off this thread, whose
   * innermost they are. Returns the first of them.
   */
  static @Nullable Deadline leave(Coroutine coroutine) {
    Deadline first = null;
    Deadline last = null;
    Deadline one = innermost(Fiber.currentOrNull());
    for (; one != null && one.coroutine == coroutine; one = one.outer) {
      one.setInnermost(one.outer);
      one.endBeforeTime();
      first = first == null ? one : first;
      last = one;
    }
    if (last != null) {
      last.outer = null;
    }
    return first;
  }

  /** Puts them back, now that it is resumed; the time of some may be over. */
  static void enter(Deadline first) {
    Deadline last = first;
    first.goOn();
    while (last.outer != null) {
      last = last.outer;
      last.goOn();
    }
    last.outer = first.innermost();
    first.setInnermost(first);
  }

  private void goOn() {
    worker = place();
    state = RUNNING;
    if (time - worker.scheduler.clock.nanoTime() <= 0) {
      onExpired();
    } else {
      worker.add(this, time);
    }
  }

  /** Ends it, or returns false if its time is over; its interrupt is taken back then. */
  private boolean endBeforeTime() {
    if (STATE.compareAndSet(this, RUNNING, FINISHED)) {
      worker.remove(this);
      return true;
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
    return false;
  }

  private void awaitInterrupt() {
    while (state != EXPIRED) {
      Thread.onSpinWait();
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

  private Worker place() {
    return fiber != null ? fiber.worker : Scheduler.shared().placement.forNew(null);
  }

  private @Nullable Deadline innermost() {
    return innermost(fiber);
  }

  private static @Nullable Deadline innermost(@Nullable Fiber<?> fiber) {
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
