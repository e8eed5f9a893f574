package dev.weft.sync;

import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sync.LockCondition;
import dev.weft.internal.wait.WaitNode;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.Waiter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A fair lock: {@link #unlock} hands it to the waiter that has waited longest, and no other thread
 * can take it in between. Reentrant, as {@link java.util.concurrent.locks.ReentrantLock} is.
 *
 * {@snippet class="dev.weft.sync.SyncSnippetsTest" region="mutex"}
 */
public final class Mutex implements Lock {
  /*
   *       FREE -> HELD         // lock, by one compare-and-set
   *       HELD -> FREE         // unlock, likewise
   *       HELD -> CONTENDED    // a waiter is about to queue; under the guard
   *  CONTENDED -> PASSING      // unlock, by the same subtraction, which is cheapest
   *    PASSING -> CONTENDED    // handed to the first in the queue, others wait; under the guard
   *    PASSING -> HELD         // handed to the last in the queue; under the guard
   *    PASSING -> FREE         // all waiters have given up; under the guard
   *
   * Invariants:
   *  - While a waiter in the queue still waits, state is CONTENDED or PASSING. So no unlock
   *    overlooks a waiter, and no lock overtakes one.
   *  - owner is written by the owner alone, after it has got the lock and before it gives it away:
   *    a thread that reads itself there holds the lock, without any ordering.
   */
  private static final int FREE = 0;
  private static final int HELD = 1;
  private static final int PASSING = 2;
  private static final int CONTENDED = 3;

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Mutex.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile int state;
  private @Nullable Thread owner;

  // how often the owner has locked it beyond the first time; the owner only
  private int extraHolds;

  private final SpinLock guard = new SpinLock();
  private final WaitQueue queue = new Queue(guard, this);

  /** The threads that wait for a mutex. */
  private static final class Queue extends WaitQueue {
    Queue(SpinLock guard, Mutex mutex) {
      super(guard, "the lock of", mutex);
    }

    @Override
    public @Nullable Thread holder() {
      return ((Mutex) owner()).owner;
    }
  }

  /** Creates a mutex that is free. */
  public Mutex() {}

  @Override
  public void lock() {
    Thread me = Thread.currentThread();
    if (STATE.compareAndSet(this, FREE, HELD)) {
      owner = me;
    } else if (!lockedAgain(me)) {
      Waiter waiter = new Waiter(FiberCore.currentOrNull());
      if (!takeOrQueue(waiter)) {
        waiter.awaitUninterruptibly(queue);
      }
      owner = me;
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline; it
   *     has left the queue then, and does not hold the mutex
   */
  @Override
  public void lockInterruptibly() throws InterruptedException {
    Waiter waiter = new Waiter(CurrentFiber.enterWait());
    Thread me = Thread.currentThread();
    if (!lockedAgain(me)) {
      if (!takeOrQueue(waiter)) {
        waiter.await(queue);
      }
      owner = me;
    }
  }

  @Override
  public boolean tryLock() {
    Thread me = Thread.currentThread();
    if (STATE.compareAndSet(this, FREE, HELD)) {
      owner = me;
      return true;
    }
    return lockedAgain(me);
  }

  /**
   * Waits for the mutex for so long.
   *
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline
   */
  public boolean tryLock(Duration limit) throws InterruptedException {
    Objects.requireNonNull(limit, "limit");
    Waiter waiter = new Waiter(CurrentFiber.enterWait());
    Thread me = Thread.currentThread();
    if (!lockedAgain(me)) {
      if (!takeOrQueue(waiter) && !waiter.await(queue, limit)) {
        return false;
      }
      owner = me;
    }
    return true;
  }

  /** Waits for the mutex for so long: see {@link #tryLock(Duration)}. */
  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return tryLock(Duration.ofNanos(unit.toNanos(time)));
  }

  /**
   * Hands the mutex to the waiter that has waited longest, or leaves it free.
   *
   * @throws IllegalMonitorStateException if the caller does not hold it
   */
  @Override
  public void unlock() {
    Thread me = Thread.currentThread();
    if (owner != me) {
      throw notOwner("unlock");
    }
    if (extraHolds > 0) {
      extraHolds--;
    } else {
      release();
    }
  }

  private void release() {
    owner = null;
    if ((int) STATE.getAndAdd(this, -1) != HELD) {
      handOver();
    }
  }

  private void handOver() {
    WaitNode next;
    guard.lock();
    try {
      next = queue.poll();
      state = next == null ? FREE : queue.isEmpty() ? HELD : CONTENDED;
    } finally {
      guard.unlock();
    }
    if (next != null) {
      next.wake();
    }
  }

  private boolean lockedAgain(Thread me) {
    if (owner != me) {
      return false;
    }
    if (extraHolds == Integer.MAX_VALUE) {
      throw new Error("cannot lock " + this + " again: it has been locked 2,147,483,648 times");
    }
    extraHolds++;
    return true;
  }

  /** Takes it if it is free, else joins the queue; returns whether it was free. */
  private boolean takeOrQueue(Waiter waiter) {
    guard.lock();
    try {
      while (true) {
        if (STATE.compareAndSet(this, FREE, HELD)) {
          return true;
        }
        if (state >= PASSING || STATE.compareAndSet(this, HELD, CONTENDED)) {
          queue.add(waiter);
          return false;
        }
      }
    } finally {
      guard.unlock();
    }
  }

  // ---- conditions ----

  /**
   * Returns a condition of this mutex: a {@link ConditionVariable} that knows its lock. {@code
   * signal} and {@code signalAll} are for the holder. There are no spurious wake-ups.
   */
  @Override
  public Condition newCondition() {
    return new LockCondition(this, () -> checkHeld("signal a condition of"));
  }

  /** Refuses a caller that does not hold the mutex. */
  void checkHeld(String verb) {
    if (!isHeldByCurrentThread()) {
      throw notOwner(verb);
    }
  }

  /** Gives it away, however often the caller holds it; returns how often beyond the first time. */
  int releaseAll() {
    int times = extraHolds;
    extraHolds = 0;
    release();
    return times;
  }

  /** Takes it back as it was before {@link #releaseAll}. */
  void lockAgain(int times) {
    lock();
    extraHolds = times;
  }

  // ---- looking ----

  /** Returns whether the caller holds it. */
  public boolean isHeldByCurrentThread() {
    return owner == Thread.currentThread();
  }

  /** Returns whether a thread holds it. */
  public boolean isLocked() {
    return state != FREE;
  }

  private IllegalMonitorStateException notOwner(String verb) {
    return new IllegalMonitorStateException(
        "cannot "
            + verb
            + " "
            + this
            + ": the caller, "
            + FiberCore.describe(Thread.currentThread())
            + ", does not hold it");
  }

  @Override
  public String toString() {
    Thread holder = owner;
    String held =
        holder != null ? "held by " + FiberCore.describe(holder) : isLocked() ? "held" : "free";
    return "mutex " + Integer.toHexString(System.identityHashCode(this)) + " (" + held + ")";
  }
}
