package dev.weft.sync;

import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.Waiter;
import dev.weft.internal.wait.WakeList;
import java.time.Duration;
import java.util.Objects;

/**
 * A count of what is still to be done, to wait for: at 0 all waiters go on. It can be used again.
 *
 * {@snippet class="dev.weft.sync.SyncSnippetsTest" region="wait-group"}
 */
public final class WaitGroup {
  // invariant, under the guard: count >= 0, and the queue is empty at 0
  private final SpinLock guard = new SpinLock();
  private final WaitQueue queue = new WaitQueue(guard, "the end of", this);
  private int count;

  /** Creates one with nothing to be done. */
  public WaitGroup() {}

  /**
   * Adds so many to be done; a negative number takes away.
   *
   * @throws IllegalStateException if more would be done than were to be
   */
  public void add(int n) {
    WakeList woken = new WakeList();
    guard.lock();
    try {
      long sum = (long) count + n;
      if (sum < 0 || sum > Integer.MAX_VALUE) {
        throw new IllegalStateException(
            sum < 0
                ? "cannot take " + -(long) n + " from " + count + ": done() without add()"
                : "cannot add " + n + " to " + count + ": too many");
      }
      count = (int) sum;
      if (count == 0) {
        queue.pollAll(woken);
      }
    } finally {
      guard.unlock();
    }
    woken.wake();
  }

  /** Tells the group that a task is done: counts down by one. */
  public void done() {
    add(-1);
  }

  /**
   * Waits until all is done.
   *
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline
   */
  public void await() throws InterruptedException {
    Waiter waiter = new Waiter(CurrentFiber.enterWait());
    if (!isDoneOrQueue(waiter)) {
      waiter.await(queue);
    }
  }

  /** Waits until all is done, for so long; returns whether it is. */
  public boolean await(Duration limit) throws InterruptedException {
    Objects.requireNonNull(limit, "limit");
    Waiter waiter = new Waiter(CurrentFiber.enterWait());
    return isDoneOrQueue(waiter) || waiter.await(queue, limit);
  }

  private boolean isDoneOrQueue(Waiter waiter) {
    guard.lock();
    try {
      if (count == 0) {
        return true;
      }
      queue.add(waiter);
      return false;
    } finally {
      guard.unlock();
    }
  }

  @Override
  public String toString() {
    return "wait group " + Integer.toHexString(System.identityHashCode(this));
  }
}
