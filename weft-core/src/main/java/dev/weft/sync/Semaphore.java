package dev.weft.sync;

import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.wait.WaitNode;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.Waiter;
import dev.weft.internal.wait.WakeList;
import java.time.Duration;
import java.util.Objects;

/**
 * A number of permits, handed out in FIFO order. Any fiber or thread may release a permit, also
 * without having acquired one.
 *
 * {@snippet class="dev.weft.sync.SyncSnippetsTest" region="semaphore"}
 */
public final class Semaphore {
  /*
   * Invariants, under the guard:
   *  - permits >= 0; permits that are held have been taken out of this number.
   *  - The first waiter wants more than there are. So a new caller may take permits only if the
   *    queue is empty, and whenever permits come or the first waiter gives up, as many waiters as
   *    possible are let in.
   */
  private final SpinLock guard = new SpinLock();
  private final WaitQueue queue = new Queue(guard, this);
  private int permits;

  /** The threads that wait for permits. */
  private static final class Queue extends WaitQueue {
    Queue(SpinLock guard, Semaphore semaphore) {
      super(guard, "a permit of", semaphore);
    }

    @Override
    public void waiterIsGone() {
      ((Semaphore) owner()).letIn(0); // the waiters behind may want less
    }
  }

  /**
   * Creates a semaphore.
   *
   * @param permits how many there are at first, at least 0
   */
  public Semaphore(int permits) {
    if (permits < 0) {
      throw new IllegalArgumentException("permits must be at least 0, not " + permits);
    }
    this.permits = permits;
  }

  /** Takes a permit, waits for one if there is none. */
  public void acquire() throws InterruptedException {
    acquire(1);
  }

  /**
   * Takes so many permits at once, or waits until it can.
   *
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline; it
   *     has taken none then
   */
  public void acquire(int count) throws InterruptedException {
    check(count);
    Waiter waiter = new Waiter(CurrentFiber.enterWait());
    if (takeOrQueue(waiter, count)) {
      return;
    }
    boolean got = false;
    try {
      waiter.await(queue);
      got = true;
    } finally {
      if (!got) {
        letIn(0); // the waiters behind may want less
      }
    }
  }

  /** Takes a permit if there is one and no other caller waits. */
  public boolean tryAcquire() {
    return tryAcquire(1);
  }

  /** Takes so many permits if they are there and no other caller waits. */
  public boolean tryAcquire(int count) {
    check(count);
    guard.lock();
    try {
      return take(count);
    } finally {
      guard.unlock();
    }
  }

  /** Waits for a permit for so long; returns whether it got one. */
  public boolean tryAcquire(Duration limit) throws InterruptedException {
    return tryAcquire(1, limit);
  }

  /** Waits for so many permits for so long; returns whether it got them. */
  public boolean tryAcquire(int count, Duration limit) throws InterruptedException {
    check(count);
    Objects.requireNonNull(limit, "limit");
    Waiter waiter = new Waiter(CurrentFiber.enterWait());
    if (takeOrQueue(waiter, count)) {
      return true;
    }
    boolean got = false;
    try {
      got = waiter.await(queue, limit);
    } finally {
      if (!got) {
        letIn(0);
      }
    }
    return got;
  }

  /** Gives a permit back, or a new one. */
  public void release() {
    release(1);
  }

  /** Gives so many permits back, or new ones. */
  public void release(int count) {
    check(count);
    letIn(count);
  }

  /** Returns how many permits are there now. */
  public int availablePermits() {
    guard.lock();
    try {
      return permits;
    } finally {
      guard.unlock();
    }
  }

  private boolean takeOrQueue(Waiter waiter, int count) {
    guard.lock();
    try {
      if (take(count)) {
        return true;
      }
      waiter.amount = count;
      queue.add(waiter);
      return false;
    } finally {
      guard.unlock();
    }
  }

  private boolean take(int count) {
    if (permits < count || queue.first() != null) {
      return false;
    }
    permits -= count;
    return true;
  }

  /** Adds permits and lets waiters in, in their order, while the permits suffice. */
  private void letIn(int more) {
    WakeList woken = new WakeList();
    guard.lock();
    try {
      if (permits + more < 0) {
        throw new IllegalStateException(
            "cannot release " + more + " permits: there would be more than " + Integer.MAX_VALUE);
      }
      permits += more;
      for (WaitNode next = queue.first();
          next != null && next.amount <= permits;
          next = queue.first()) {
        int wanted = next.amount;
        if (queue.choose(next)) {
          permits -= wanted;
          woken.add(next);
        }
      }
    } finally {
      guard.unlock();
    }
    woken.wake();
  }

  private static void check(int count) {
    if (count < 0) {
      throw new IllegalArgumentException("count must be at least 0, not " + count);
    }
  }

  @Override
  public String toString() {
    return "semaphore " + Integer.toHexString(System.identityHashCode(this));
  }
}
