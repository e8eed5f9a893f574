package dev.weft.sync;

import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
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
 * A lock. A running fiber may take a free lock before the fibers that wait for it, which saves two
 * switches a time; a waiter that has waited for a millisecond gets the lock handed over, so none
 * starves (as Go's {@code sync.Mutex}). {@link #fair} makes a lock that is always handed over to
 * the waiter that has waited longest. Reentrant, as {@link
 * java.util.concurrent.locks.ReentrantLock} is.
 *
 * {@snippet class="dev.weft.sync.SyncSnippetsTest" region="mutex"}
 */
public final class Mutex implements Lock {
  /*
   * state is a set of bits:
   *   HELD     a thread has the lock
   *   QUEUED   a waiter may be in the queue
   *   WOKEN    a waiter has been woken, not chosen as the owner, and is about to try for the lock
   *   HANDING  an unlock hands the lock to the first waiter; no other thread can take it
   *
   *   lock     takes it if neither HELD nor HANDING is set; else queues, and sets QUEUED
   *   unlock   subtracts HELD. If waiters are queued: with HANDING it gives the lock to the first
   *            of them; without, it wakes the first, unless a waiter woken earlier is on its way
   *   a woken  waiter that finds the lock taken again queues at the front; if it has waited for
   *            PATIENCE it sets HANDING
   *   an owner that was handed the lock although it has waited less clears HANDING
   *
   * A fair mutex sets HANDING with each waiter that queues, and never clears it while one waits.
   *
   * Invariants:
   *  - QUEUED, WOKEN and HANDING are set, and the queue changes, under the guard; HELD is not.
   *  - While a waiter in the queue still waits, QUEUED is set. So no unlock overlooks a waiter.
   *  - While QUEUED is set and the lock is free, WOKEN is set, or an unlock is about to take the
   *    guard. So no waiter stays behind beside a free lock.
   *  - WOKEN and HANDING are never set together: the waiter that sets HANDING was the woken one.
   *  - A woken waiter that its scheduler gives up on never runs: WOKEN is cleared in its place.
   *  - owner is written by the owner alone, after it has got the lock and before it gives it away:
   *    a thread that reads itself there holds the lock, without any ordering.
   */
  private static final int HELD = 1;
  private static final int QUEUED = 2;
  private static final int WOKEN = 4;
  private static final int HANDING = 8;

  /** How long a waiter lets other threads go first. */
  private static final long PATIENCE = 1_000_000;

  /** Given to a waiter that owns the lock when it wakes. */
  private static final Object OWNERSHIP = new Object();

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Mutex.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final boolean fair;

  private volatile int state;
  private @Nullable Thread owner;

  // how often the owner has locked it beyond the first time; the owner only
  private int extraHolds;

  // the waiter for which WOKEN was set last, until it has run; under the guard
  private @Nullable WaitNode woken;

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

    @Override
    public void waiterIsGone() {
      ((Mutex) owner()).passOverGone();
    }
  }

  /** Creates a mutex that is free. */
  public Mutex() {
    this(false);
  }

  private Mutex(boolean fair) {
    this.fair = fair;
  }

  /** Creates a mutex that is always handed to the waiter that has waited longest. */
  public static Mutex fair() {
    return new Mutex(true);
  }

  @Override
  public void lock() {
    Thread me = Thread.currentThread();
    if (!tryTake() && !lockedAgain(me)) {
      Attempt attempt = new Attempt(FiberCore.currentOrNull());
      Waiter waiter = attempt.newWaiter();
      while (!takeOrQueue(waiter, attempt)) {
        waiter.awaitUninterruptibly(queue);
        if (attempt.ends(waiter)) {
          break;
        }
        waiter = attempt.newWaiter();
      }
    }
    owner = me;
  }

  /**
   * {@inheritDoc}
   *
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline; it
   *     has left the queue then, and does not hold the mutex
   */
  @Override
  public void lockInterruptibly() throws InterruptedException {
    lockWithin(null);
  }

  @Override
  public boolean tryLock() {
    Thread me = Thread.currentThread();
    if (!tryTake() && !lockedAgain(me)) {
      return false;
    }
    owner = me;
    return true;
  }

  /**
   * Waits for the mutex for so long.
   *
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline
   */
  public boolean tryLock(Duration limit) throws InterruptedException {
    return lockWithin(Objects.requireNonNull(limit, "limit"));
  }

  /** Waits for the mutex for so long: see {@link #tryLock(Duration)}. */
  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return tryLock(Duration.ofNanos(unit.toNanos(time)));
  }

  /** Waits for the mutex, up to a time limit if there is one; returns whether it has got it. */
  private boolean lockWithin(@Nullable Duration limit) throws InterruptedException {
    FiberCore<?> self = CurrentFiber.enterWait();
    Thread me = Thread.currentThread();
    if (!tryTake() && !lockedAgain(me)) {
      Attempt attempt = new Attempt(self);
      Waiter waiter = attempt.newWaiter();
      while (!takeOrQueue(waiter, attempt)) {
        if (limit == null) {
          waiter.await(queue);
        } else if (!waiter.await(queue, attempt.left(limit))) {
          return false;
        }
        if (attempt.ends(waiter)) {
          break;
        }
        waiter = attempt.newWaiter();
      }
    }
    owner = me;
    return true;
  }

  /**
   * Frees the mutex, or hands it to the waiter that has waited longest.
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
    int before = (int) STATE.getAndAdd(this, -HELD);
    if (before != HELD && (before & WOKEN) == 0) {
      wakeNext();
    }
  }

  /** Hands the lock to the first waiter, or wakes it to try; unless another thread has to. */
  private void wakeNext() {
    WaitNode next;
    guard.lock();
    try {
      next = chooseNext();
    } finally {
      guard.unlock();
    }
    if (next != null) {
      next.wake();
    }
  }

  private @Nullable WaitNode chooseNext() {
    int seen = state;
    if ((seen & HELD) == 0 && (seen & HANDING) != 0) { // no other thread changes state now
      // HELD before the choice: a waiter whose limit passes, or that is interrupted, is awake by
      // itself. As soon as it is chosen it owns the lock, and may unlock before the next line runs
      state = seen | HELD;
      WaitNode next = queue.poll(OWNERSHIP);
      if (next == null) {
        state = 0;
      } else if (queue.isEmpty()) {
        STATE.getAndBitwiseAnd(this, ~(QUEUED | HANDING));
      }
      return next;
    }
    do {
      seen = state;
      if ((seen & (HELD | WOKEN | HANDING)) != 0 || (seen & QUEUED) == 0) {
        return null; // the present owner, or the woken waiter, is to see to the queue
      }
    } while (!STATE.compareAndSet(this, seen, seen | WOKEN));
    WaitNode next = queue.poll();
    woken = next;
    if (queue.isEmpty()) {
      STATE.getAndBitwiseAnd(this, next == null ? ~(WOKEN | QUEUED) : ~QUEUED);
    }
    return next;
  }

  /** If a scheduler has given up on the woken waiter, lets the next one try in its place. */
  private void passOverGone() {
    WaitNode next = null;
    guard.lock();
    try {
      WaitNode gone = woken;
      if (gone != null && gone.waiter().isGone()) {
        woken = null;
        STATE.getAndBitwiseAnd(this, ~WOKEN);
        next = chooseNext();
      }
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

  /** Takes the mutex if it is free, without a look at the queue. */
  private boolean tryTake() {
    int seen = state;
    while ((seen & (HELD | HANDING)) == 0) {
      if (STATE.compareAndSet(this, seen, seen | HELD)) {
        return true;
      }
      seen = state;
    }
    return false;
  }

  /** Takes the mutex if it is free, else joins the queue; returns whether the mutex was free. */
  private boolean takeOrQueue(Waiter waiter, Attempt attempt) {
    int cleared = attempt.woken ? ~WOKEN : ~0;
    int set = attempt.queueing();
    guard.lock();
    try {
      if (attempt.woken) {
        woken = null;
      }
      while (true) {
        int seen = state;
        if ((seen & (HELD | HANDING)) == 0) {
          if (STATE.compareAndSet(this, seen, (seen | HELD) & cleared)) {
            return true;
          }
        } else if (STATE.compareAndSet(this, seen, (seen | set) & cleared)) {
          if (attempt.woken) {
            queue.addFirst(waiter);
          } else {
            queue.add(waiter);
          }
          return false;
        }
      }
    } finally {
      guard.unlock();
    }
  }

  /** One call that waits for the lock; used by its thread alone. */
  private final class Attempt {
    private final @Nullable FiberCore<?> self;
    private final long began = SchedulerCore.timeHere();

    // whether it has been woken, and not yet tried for the lock or queued again: WOKEN is its bit
    private boolean woken;

    Attempt(@Nullable FiberCore<?> self) {
      this.self = self;
    }

    /** Returns what waits for the lock the first time, or once more. */
    Waiter newWaiter() {
      try {
        return new Waiter(self);
      } catch (Throwable e) { // no memory: another waiter has to try in its place
        if (woken) {
          STATE.getAndBitwiseAnd(Mutex.this, ~WOKEN);
          wakeNext();
        }
        throw e;
      }
    }

    /** Returns whether the waiter, which was chosen, owns the lock; if not it has to try again. */
    boolean ends(Waiter waiter) {
      woken = waiter.item != OWNERSHIP;
      if (!woken && !fair && !hasWaitedLong()) {
        STATE.getAndBitwiseAnd(Mutex.this, ~HANDING);
      }
      return !woken;
    }

    /** Returns the bits that queueing sets. */
    int queueing() {
      return fair || (woken && hasWaitedLong()) ? QUEUED | HANDING : QUEUED;
    }

    private boolean hasWaitedLong() {
      return SchedulerCore.timeHere() - began >= PATIENCE;
    }

    Duration left(Duration limit) {
      return woken ? limit.minusNanos(SchedulerCore.timeHere() - began) : limit;
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

  /** Frees the mutex, however often the caller locked it; returns the extra holds. */
  int releaseAll() {
    int times = extraHolds;
    extraHolds = 0;
    release();
    return times;
  }

  /** Locks the mutex with the extra holds that it had before {@link #releaseAll}. */
  void lockAgain(int times) {
    lock();
    extraHolds = times;
  }

  // ---- looking ----

  /** Returns whether the caller holds the mutex. */
  public boolean isHeldByCurrentThread() {
    return owner == Thread.currentThread();
  }

  /** Returns whether a thread holds it. */
  public boolean isLocked() {
    return (state & (HELD | HANDING)) != 0;
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
