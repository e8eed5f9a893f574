package dev.weft.sync;

import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sync.HoldCounts;
import dev.weft.internal.sync.LockCondition;
import dev.weft.internal.wait.WaitNode;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.Waiter;
import dev.weft.internal.wait.WakeList;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A lock that many readers can share, or one writer can have alone. Writers come first: while a
 * writer waits no new reader enters. When a writer is done, running fibers may lock again before
 * the threads that have waited for it, to write, or, if no writer waits, to read: that saves
 * switches, as with {@link Mutex}. Once a thread has waited for a millisecond, the next writer that
 * unlocks hands over: to the readers that wait, and after them to the next writer. So neither kind,
 * nor running fibers, can keep the others out.
 *
 * {@snippet class="dev.weft.sync.SyncSnippetsTest" region="shared"}
 *
 * <p>Not reentrant, and no reader can become a writer: a writer that locks again is refused; a
 * reader that does waits for ever once a writer waits. Each lock is released by the fiber or thread
 * that took it; {@code unlock} by any other is an {@link IllegalMonitorStateException}.
 */
public final class SharedMutex implements ReadWriteLock {
  /*
   * Invariants, under the guard:
   *  - Readers and writing exclude each other.
   *  - A waiter in a queue implies a holder, or a waiter on its way: one that was woken without
   *    the lock. It takes the lock or, if another thread was faster, waits again, at the front.
   *  - While a writer waits, in the queue or on its way, no reader takes the lock; it may be handed
   *    to readers that have waited for long.
   *  - At most one reader and one writer are on their way. The reader, once it has taken the lock,
   *    wakes the next reader. Were all woken at once, all would queue again behind a writer that
   *    was faster. A fiber that its scheduler has given up on is not on its way any more.
   *  - When the last reader leaves, it hands over to the next writer. When a writer that waited for
   *    readers gives up, or its scheduler gives up on it, the readers behind it are let in.
   *
   * A writer that unlocks wakes the next writer, not the readers that waited for it. Considered and
   * refused: to let the readers in first. Each of them would read once, and wait again if another
   * writer still waited, so every lock would cost a switch.
   *
   * The file is long because both locks share one guard, and each invariant speaks of both.
   */

  /** How long waiters let running fibers go first. */
  private static final long PATIENCE = 1_000_000;

  /** Given to a waiter that holds the lock when it wakes. */
  private static final Object OWNERSHIP = new Object();

  private final SpinLock guard = new SpinLock();
  private final WaitQueue toRead = new Queue(guard, "the read lock of", this);
  private final WaitQueue toWrite = new Queue(guard, "the write lock of", this);
  private final ReadLock readLock = new ReadLock();
  private final WriteLock writeLock = new WriteLock();

  // under the guard
  private final HoldCounts readers = new HoldCounts();
  private boolean writing;
  private long waitingSince; // while threads wait: since when, or the last time it was handed over

  // the thread that holds the write lock; written by itself, as in Mutex
  private volatile @Nullable Thread writer;

  /** The threads that wait to read or to write. */
  private static final class Queue extends WaitQueue {
    Queue(SpinLock guard, String verb, SharedMutex mutex) {
      super(guard, verb, mutex);
    }

    @Override
    public @Nullable Thread holder() {
      return ((SharedMutex) owner()).writer;
    }

    @Override
    public void forEachHolder(LongConsumer visitor) {
      ((SharedMutex) owner()).forEachHolder(this, visitor);
    }

    @Override
    public boolean mayHaveHolders() {
      return true; // a waiter implies a holder, or a writer that waits
    }

    @Override
    public void waiterIsGone() {
      ((SharedMutex) owner()).passOverGone();
    }
  }

  /** Creates a shared mutex that is free. */
  public SharedMutex() {}

  /** Returns the readers' lock, which many threads can hold; the lock has no conditions. */
  @Override
  public Lock readLock() {
    return readLock;
  }

  /** Returns the writers' lock, which a single thread can hold. */
  @Override
  public Lock writeLock() {
    return writeLock;
  }

  @Override
  public String toString() {
    Thread one = writer;
    return "shared mutex "
        + Integer.toHexString(System.identityHashCode(this))
        + (one != null ? " (written by " + FiberCore.describe(one) + ")" : "");
  }

  /** What the read lock and the write lock have in common. */
  private abstract class Side implements Lock {
    private final WaitQueue queue;
    private @Nullable WaitNode onItsWay;

    Side(WaitQueue queue) {
      this.queue = queue;
    }

    /** Takes the lock if that is possible now; called under the guard. */
    abstract boolean take();

    /** Called by a thread that has got the lock. */
    void entered() {}

    /** Called by a thread that gave up. */
    void gaveUp() {}

    @Override
    public void lock() {
      if (!tryLock()) {
        lockSlow();
      }
    }

    private void lockSlow() {
      refuseWriter();
      FiberCore<?> self = FiberCore.currentOrNull();
      WakeList woken = new WakeList();
      Waiter waiter = takeOrQueue(self);
      while (waiter != null) {
        waiter.awaitUninterruptibly(queue);
        waiter = takeOrQueueAgain(waiter, self, woken);
      }
      entered();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
      lockWithin(null);
    }

    @Override
    public boolean tryLock() {
      boolean taken;
      guard.lock();
      try {
        taken = take();
      } finally {
        guard.unlock();
      }
      if (taken) {
        entered();
      }
      return taken;
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
      return lockWithin(Duration.ofNanos(unit.toNanos(time)));
    }

    /** Waits for the lock, up to a time limit if there is one; returns whether it has got it. */
    private boolean lockWithin(@Nullable Duration limit) throws InterruptedException {
      refuseWriter();
      FiberCore<?> self = CurrentFiber.enterWait();
      long began = SchedulerCore.timeHere();
      WakeList woken = new WakeList();
      Waiter waiter = takeOrQueue(self);
      while (waiter != null) {
        boolean chosen = false;
        try {
          chosen = await(waiter, limit, began);
        } finally {
          if (!chosen) {
            gaveUp();
          }
        }
        if (!chosen) {
          return false;
        }
        waiter = takeOrQueueAgain(waiter, self, woken);
      }
      entered();
      return true;
    }

    private boolean await(Waiter waiter, @Nullable Duration limit, long began)
        throws InterruptedException {
      if (limit == null) {
        waiter.await(queue);
        return true;
      }
      return waiter.await(queue, limit.minusNanos(SchedulerCore.timeHere() - began));
    }

    /** Takes the lock and returns null, or returns the waiter that has joined the queue. */
    private @Nullable Waiter takeOrQueue(@Nullable FiberCore<?> self) {
      guard.lock();
      try {
        if (take()) {
          return null;
        }
        if (!hasWaiters()) {
          waitingSince = SchedulerCore.timeHere();
        }
        Waiter waiter = new Waiter(self);
        queue.add(waiter);
        return waiter;
      } finally {
        guard.unlock();
      }
    }

    /**
     * Returns null if the waiter, which has been chosen, holds the lock. Else it was on its way:
     * takes the lock and returns null, or returns the waiter that has joined the queue again.
     */
    private @Nullable Waiter takeOrQueueAgain(
        Waiter chosen, @Nullable FiberCore<?> self, WakeList woken) {
      if (chosen.item == OWNERSHIP) {
        return null;
      }
      try {
        return takeOrQueueFirst(new Waiter(self), woken);
      } catch (Throwable e) { // no memory: another waiter has to try in its place
        guard.lock();
        try {
          onItsWay = null;
          wakeNext(woken);
        } finally {
          guard.unlock();
        }
        throw e;
      } finally {
        woken.wake();
      }
    }

    private @Nullable Waiter takeOrQueueFirst(Waiter again, WakeList woken) {
      guard.lock();
      try {
        boolean taken = take(); // Take first: it may find no memory.
        onItsWay = null;
        if (taken) {
          wakeNext(woken);
          return null;
        }
        queue.addFirst(again);
        return again;
      } finally {
        guard.unlock();
      }
    }

    /** Wakes the first waiter without the lock, unless one is on its way; under the guard. */
    final void wakeOne(WakeList woken) {
      if (!isOnItsWay()) {
        onItsWay = queue.poll();
        if (onItsWay != null) {
          woken.add(onItsWay);
        }
      }
    }

    /** Returns whether a waiter has been woken that will take the lock or queue again. */
    final boolean isOnItsWay() {
      return onItsWay != null && !onItsWay.waiter().isGone();
    }

    /** Returns whether a thread waits, in the queue or on its way; called under the guard. */
    final boolean isAwaited() {
      return isOnItsWay() || !queue.isEmpty();
    }

    private void refuseWriter() {
      if (writer == Thread.currentThread()) {
        throw new IllegalStateException(
            "cannot lock "
                + SharedMutex.this
                + ": the caller writes already, it would wait for itself");
      }
    }

    /** Refuses an unlock by a thread that does not hold the lock. */
    final IllegalMonitorStateException notHeld() {
      return new IllegalMonitorStateException(
          "cannot unlock "
              + this
              + ": the caller, "
              + FiberCore.describe(Thread.currentThread())
              + ", does not hold it");
    }

    @Override
    public String toString() {
      return queue.toString();
    }
  }

  private final class ReadLock extends Side {
    ReadLock() {
      super(toRead);
    }

    @Override
    boolean take() {
      if (writing || writeLock.isAwaited()) {
        return false;
      }
      readers.add(Thread.currentThread());
      return true;
    }

    @Override
    public void unlock() {
      WakeList woken = new WakeList();
      boolean held;
      guard.lock();
      try {
        held = readers.remove(Thread.currentThread());
        if (held && readers.isEmpty() && !letWriterIn(woken)) {
          wakeNext(woken); // a reader behind a writer that is gone
        }
      } finally {
        guard.unlock();
      }
      if (!held) {
        throw notHeld();
      }
      woken.wake();
    }

    @Override
    public Condition newCondition() {
      throw new UnsupportedOperationException(
          "a read lock has no conditions: use the write lock, or a ConditionVariable");
    }
  }

  private final class WriteLock extends Side {
    WriteLock() {
      super(toWrite);
    }

    @Override
    boolean take() {
      if (writing || !readers.isEmpty()) {
        return false;
      }
      writing = true;
      return true;
    }

    @Override
    void entered() {
      writer = Thread.currentThread();
    }

    /** Lets in the readers that waited behind this one. */
    @Override
    void gaveUp() {
      WakeList woken = new WakeList();
      guard.lock();
      try {
        letReadersInUnlessWriterWaits(woken);
      } finally {
        guard.unlock();
      }
      woken.wake();
    }

    @Override
    public void unlock() {
      checkHeld();
      WakeList woken = new WakeList(); // first: it may fail, and the caller holds the lock still
      writer = null;
      guard.lock();
      try {
        writing = false;
        if (!haveWaitedLong()) {
          wakeNext(woken);
        } else {
          letReadersIn(woken);
          if (!readLock.isOnItsWay() && !writeLock.isOnItsWay()) { // these have not got it yet
            waitingSince = SchedulerCore.timeHere();
          }
          if (readers.isEmpty()) {
            letWriterIn(woken);
          }
        }
      } finally {
        guard.unlock();
      }
      woken.wake();
    }

    @Override
    public Condition newCondition() {
      return new LockCondition(this, this::checkHeld);
    }

    private void checkHeld() {
      if (writer != Thread.currentThread()) {
        throw notHeld();
      }
    }
  }

  /**
   * Writers wait for the writer, or for each of the readers; readers wait for the writer, or for
   * the first thread that waits to write.
   */
  private void forEachHolder(WaitQueue queue, LongConsumer visitor) {
    Thread one = writer;
    if (one != null) {
      visitor.accept(one.threadId());
      return;
    }
    guard.lock();
    try {
      WaitNode next = queue == toRead ? toWrite.first() : null;
      if (next != null) {
        visitor.accept(next.waiter().thread.threadId());
      } else if (queue == toWrite) {
        readers.forEachThread(visitor);
      }
    } finally {
      guard.unlock();
    }
  }

  /** Hands the lock to the first waiting writer, if a writer waits; called under the guard. */
  private boolean letWriterIn(WakeList woken) {
    WaitNode next = toWrite.poll(OWNERSHIP);
    writing = next != null;
    if (next != null) {
      woken.add(next);
    }
    return writing;
  }

  /** Hands the lock to all waiting readers; called under the guard. */
  private void letReadersIn(WakeList woken) {
    for (WaitNode next = toRead.poll(OWNERSHIP); next != null; next = toRead.poll(OWNERSHIP)) {
      readers.add(next.waiter().thread);
      woken.add(next);
    }
  }

  /** Lets in the readers behind a writer that waits no more; called under the guard. */
  private void letReadersInUnlessWriterWaits(WakeList woken) {
    // first() unlinks waiters that are gone, so that isAwaited() does not count them
    if (!writing && toWrite.first() == null && !writeLock.isAwaited()) {
      letReadersIn(woken);
    }
  }

  /** Wakes the first writer, or the first reader if no writer waits; called under the guard. */
  private void wakeNext(WakeList woken) {
    if (writing) {
      return;
    }
    if (readers.isEmpty()) { // else the last reader hands over to the writer
      writeLock.wakeOne(woken);
    }
    if (!writeLock.isAwaited()) {
      readLock.wakeOne(woken);
    }
  }

  /** A scheduler has given up on a waiter: if that was on its way, the next one tries instead. */
  private void passOverGone() {
    WakeList woken = new WakeList();
    guard.lock();
    try {
      letReadersInUnlessWriterWaits(woken);
      wakeNext(woken);
    } finally {
      guard.unlock();
    }
    woken.wake();
  }

  /** Under the guard. */
  private boolean hasWaiters() {
    return readLock.isAwaited() || writeLock.isAwaited();
  }

  private boolean haveWaitedLong() {
    return hasWaiters() && SchedulerCore.timeHere() - waitingSince >= PATIENCE;
  }
}
