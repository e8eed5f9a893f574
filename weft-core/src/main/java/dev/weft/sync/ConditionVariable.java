package dev.weft.sync;

import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.wait.WaitNode;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.Waiter;
import dev.weft.internal.wait.WakeList;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;

/**
 * A place to wait for a signal that something has changed. The lock that guards the something is
 * released for the time of the wait, and held again after it.
 *
 * {@snippet class="dev.weft.sync.SyncSnippetsTest" region="condition"}
 *
 * <p>Signals go to the waiters in FIFO order; a signal without a waiter is gone. There are no
 * spurious wake-ups. A signal may be given with or without the lock held.
 *
 * <p>Any {@link Lock} will do. A {@link Mutex} is given away however often it is held; any other
 * lock must be held once.
 */
public final class ConditionVariable {
  /*
   * Invariants:
   *  - A waiter is in the queue before it releases the lock, so a signal that comes after the
   *    change it waits for, made under the lock, finds it.
   *  - A signal chooses one waiter, which then returns normally, or none.
   */
  private final SpinLock guard = new SpinLock();
  private final WaitQueue queue = new WaitQueue(guard, "a signal of", this);

  /** Creates a condition variable without waiters. */
  public ConditionVariable() {}

  /**
   * Waits for a signal.
   *
   * @param lock held by the caller
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline; it
   *     holds the lock then too, and no signal is lost
   * @throws IllegalMonitorStateException if the caller does not hold the lock
   */
  public void await(Lock lock) throws InterruptedException {
    Waiter waiter = new Waiter(CurrentFiber.enterWait());
    int times = release(lock, waiter);
    try {
      waiter.await(queue);
    } finally {
      takeBack(lock, times);
    }
  }

  /**
   * Waits until the condition holds: looks at it first, with the lock held, and after each signal.
   *
   * @param lock held by the caller
   * @param until the condition
   * @throws InterruptedException as {@link #await(Lock)}, also if the condition holds
   */
  public void await(Lock lock, BooleanSupplier until) throws InterruptedException {
    Objects.requireNonNull(lock, "lock");
    CurrentFiber.enterWait();
    if (lock instanceof Mutex mutex) {
      mutex.checkHeld("wait for a condition of");
    }
    while (!until.getAsBoolean()) {
      await(lock);
    }
  }

  /** Waits for a signal for so long; returns false if there was none. */
  public boolean await(Lock lock, Duration limit) throws InterruptedException {
    Objects.requireNonNull(limit, "limit");
    Waiter waiter = new Waiter(CurrentFiber.enterWait());
    int times = release(lock, waiter);
    try {
      return waiter.await(queue, limit);
    } finally {
      takeBack(lock, times);
    }
  }

  /**
   * Waits for a signal, whatever else happens; an interrupt or a cancel is kept for the next cancel
   * point.
   *
   * @param lock held by the caller
   * @throws IllegalMonitorStateException if the caller does not hold the lock
   */
  public void awaitUninterruptibly(Lock lock) {
    Waiter waiter = new Waiter(FiberCore.currentOrNull());
    int times = release(lock, waiter);
    try {
      waiter.awaitUninterruptibly(queue);
    } finally {
      takeBack(lock, times);
    }
  }

  /** Wakes the waiter that has waited longest, if there is one. */
  public void signal() {
    WaitNode first;
    guard.lock();
    try {
      first = queue.poll();
    } finally {
      guard.unlock();
    }
    if (first != null) {
      first.wake();
    }
  }

  /** Wakes all waiters. */
  public void signalAll() {
    WakeList woken = new WakeList();
    guard.lock();
    try {
      queue.pollAll(woken);
    } finally {
      guard.unlock();
    }
    woken.wake();
  }

  /** Joins the queue and gives the lock away; returns what {@link #takeBack} needs. */
  private int release(Lock lock, Waiter waiter) {
    Objects.requireNonNull(lock, "lock");
    if (lock instanceof Mutex mutex) {
      mutex.checkHeld("wait for a condition of");
    }
    guard.lock();
    try {
      queue.add(waiter);
    } finally {
      guard.unlock();
    }
    try {
      if (lock instanceof Mutex mutex) {
        return mutex.releaseAll();
      }
      lock.unlock();
      return 0;
    } catch (Throwable e) {
      refuse(waiter);
      throw e;
    }
  }

  /** Takes out a waiter that may not wait; a signal that has met it goes to the next. */
  private void refuse(Waiter waiter) {
    boolean stillThere;
    guard.lock();
    try {
      stillThere = queue.remove(waiter);
    } finally {
      guard.unlock();
    }
    if (!stillThere) {
      signal();
    }
  }

  private static void takeBack(Lock lock, int times) {
    if (lock instanceof Mutex mutex) {
      mutex.lockAgain(times);
    } else {
      lock.lock();
    }
  }

  @Override
  public String toString() {
    return "condition variable " + Integer.toHexString(System.identityHashCode(this));
  }
}
