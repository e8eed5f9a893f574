package dev.weft.internal.wait;

import dev.weft.internal.Nanos;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.Timeout;
import dev.weft.internal.sched.WaitLimit;
import dev.weft.internal.switching.Mounting;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One wait of the current thread, a fiber of any scheduler or a plain thread.
 *
 * <pre>
 *   WAITING ──► chosen, by a thread that holds the lock of the queue of the chosen place
 *      └──────► GAVE_UP, by itself: cancelled, interrupted, time limit passed
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>{@link #chosen} leaves WAITING once. So of a hand-over and a cancel that meet exactly one
 *       takes effect, and of several places exactly one is chosen.
 *   <li>What the choosing thread wrote into the place before the choice happens-before the return
 *       of the wait.
 *   <li>A waiter that was chosen does not throw: it has received something, and an interrupt that
 *       came at the same time stays for the next cancel point.
 *   <li>A waiter that gave up is in no queue any more when its call returns.
 *   <li>A fiber that its scheduler has given up on is not chosen: what it received would be lost.
 *       (If it was chosen before, it keeps for ever what it received, like everything it holds.)
 *   <li>It is made for one wait and never used again, so a late wake-up can do no harm.
 * </ul>
 */
public final class Waiter extends WaitNode {
  /** The value of chosen in a waiter that gave up. */
  private static final Object GAVE_UP = new Object();

  private static final VarHandle CHOSEN;

  static {
    try {
      CHOSEN = MethodHandles.lookup().findVarHandle(Waiter.class, "chosen", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The thread that waits. */
  public final Thread thread = Thread.currentThread();

  private final @Nullable FiberCore<?> self;

  // null while WAITING, then one of its places, or GAVE_UP
  private volatile @Nullable Object chosen;

  /** Creates a waiter for the caller: the fiber, or null for a plain thread. */
  public Waiter(@Nullable FiberCore<?> self) {
    this.self = self;
  }

  /** Chooses one of its places, under the lock of that queue; returns false if it is too late. */
  boolean choose(WaitNode place) {
    return !isGone() && CHOSEN.compareAndSet(this, null, place);
  }

  /** Returns whether it still waits; called under the lock of a queue it is in. */
  boolean isWaiting() {
    return chosen == null && !isGone();
  }

  void unpark() {
    if (self != null) {
      self.unpark();
    } else {
      LockSupport.unpark(thread);
    }
  }

  /** Returns whether it is a fiber that its scheduler has given up on: it will not run again. */
  public boolean isGone() {
    return self != null && self.isGone();
  }

  /** Returns the chosen place, once it has waited. */
  public WaitNode chosen() {
    if (chosen instanceof WaitNode place) {
      return place;
    }
    throw new IllegalStateException("this waiter has not been chosen, so it has received nothing");
  }

  /**
   * Waits until it is chosen.
   *
   * @param blocker what dumps show as the thing that it waits for
   * @throws InterruptedException if it is interrupted, cancelled or past its deadline before
   */
  public void await(Object blocker) throws InterruptedException {
    try {
      while (chosen == null) {
        if (endedByInterrupt()) {
          return;
        }
        Mounting.park(blocker);
      }
    } finally {
      giveUp(); // nothing to do as a rule
    }
  }

  /** Waits until it is chosen, up to a time limit; returns false if it was not. */
  public boolean await(Object blocker, Duration limit) throws InterruptedException {
    try {
      return Nanos.of(limit) > 0 ? awaitFor(blocker, limit) : !giveUp();
    } finally {
      giveUp(); // nothing to do as a rule
    }
  }

  private boolean awaitFor(Object blocker, Duration limit) throws InterruptedException {
    try (WaitLimit time = Timeout.of(self, limit)) {
      while (chosen == null) {
        if (endedByInterrupt()) {
          return true;
        }
        if (!time.park(blocker)) {
          return !giveUp();
        }
      }
      return true;
    }
  }

  /** Waits until it is chosen; an interrupt or cancel does not end the wait, but is kept. */
  public void awaitUninterruptibly(Object blocker) {
    boolean interrupted = false;
    try {
      while (chosen == null) {
        Mounting.park(blocker);
        if (chosen == null) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      giveUp();
      if (interrupted) {
        thread.interrupt();
      }
    }
  }

  /**
   * Returns false without an interrupt, true if it was chosen before the interrupt; else throws.
   */
  private boolean endedByInterrupt() throws InterruptedException {
    try {
      FiberCore.throwIfInterrupted(self);
      return false;
    } catch (InterruptedException e) {
      if (giveUp()) {
        throw e;
      }
      thread.interrupt();
      return true;
    }
  }

  /** Ends the wait; returns false if it was chosen before. The caller removes further places. */
  private boolean giveUp() {
    if (chosen == null && CHOSEN.compareAndSet(this, null, GAVE_UP)) {
      leave();
    }
    return chosen == GAVE_UP;
  }
}
