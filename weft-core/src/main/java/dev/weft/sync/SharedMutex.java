package dev.weft.sync;

import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.FiberCore;
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
 * writer waits no new reader enters. When a writer is done, the readers that have waited for it go
 * before the next writer, so neither kind can keep the other out.
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
   *  - A waiter to write implies a holder, reader or writer. The last holder to leave hands over.
   *  - A waiter to read implies a writer, or a waiter to write. So when a writer that
   *    waited gives up, the readers behind it have to be let in.
   */
  private final SpinLock guard = new SpinLock();
  private final WaitQueue toRead = new Queue(guard, "the read lock of", this);
  private final WaitQueue toWrite = new Queue(guard, "the write lock of", this);
  private final Lock readLock = new ReadLock();
  private final Lock writeLock = new WriteLock();

  // under the guard
  private final HoldCounts readers = new HoldCounts();
  private boolean writing;

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
      Waiter waiter = takeOrQueue(FiberCore.currentOrNull());
      if (waiter != null) {
        waiter.awaitUninterruptibly(queue);
      }
      entered();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
      refuseWriter();
      Waiter waiter = takeOrQueue(CurrentFiber.enterWait());
      if (waiter != null) {
        try {
          waiter.await(queue);
        } catch (InterruptedException e) {
          gaveUp();
          throw e;
        }
      }
      entered();
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
      Duration limit = Duration.ofNanos(unit.toNanos(time));
      refuseWriter();
      Waiter waiter = takeOrQueue(CurrentFiber.enterWait());
      if (waiter != null) {
        boolean got = false;
        try {
          got = waiter.await(queue, limit);
        } finally {
          if (!got) {
            gaveUp();
          }
        }
        if (!got) {
          return false;
        }
      }
      entered();
      return true;
    }

    /** Takes the lock and returns null, or returns the waiter that has joined the queue. */
    private @Nullable Waiter takeOrQueue(@Nullable FiberCore<?> self) {
      guard.lock();
      try {
        if (take()) {
          return null;
        }
        Waiter waiter = new Waiter(self);
        queue.add(waiter);
        return waiter;
      } finally {
        guard.unlock();
      }
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
      if (writing || toWrite.first() != null) {
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
          letReadersIn(woken); // those behind a writer that is gone
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
        if (!writing && toWrite.first() == null) {
          letReadersIn(woken);
        }
      } finally {
        guard.unlock();
      }
      woken.wake();
    }

    @Override
    public void unlock() {
      checkHeld();
      writer = null;
      WakeList woken = new WakeList();
      guard.lock();
      try {
        writing = false;
        letReadersIn(woken);
        if (readers.isEmpty()) {
          letWriterIn(woken);
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
    WaitNode next = toWrite.poll();
    writing = next != null;
    if (next != null) {
      woken.add(next);
    }
    return writing;
  }

  /** Under the guard. */
  private void letReadersIn(WakeList woken) {
    for (WaitNode next = toRead.poll(); next != null; next = toRead.poll()) {
      readers.add(next.waiter().thread);
      woken.add(next);
    }
  }
}
