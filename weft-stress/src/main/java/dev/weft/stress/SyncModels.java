package dev.weft.stress;

import dev.weft.sync.ConditionVariable;
import dev.weft.sync.Mutex;
import dev.weft.sync.Semaphore;
import dev.weft.sync.SharedMutex;
import org.jetbrains.lincheck.datastructures.Operation;

/** The locks as the model checker sees them: each operation has to look like one step. */
final class SyncModels {
  private SyncModels() {}

  /** A mutex, locked once and twice. */
  public static class OfMutex {
    private final Mutex mutex;
    private int count;

    public OfMutex() {
      this(new Mutex());
    }

    OfMutex(Mutex mutex) {
      this.mutex = mutex;
    }

    @Operation
    public int next() {
      mutex.lock();
      try {
        return ++count;
      } finally {
        mutex.unlock();
      }
    }

    @Operation
    public int nextAgain() throws InterruptedException {
      mutex.lockInterruptibly();
      mutex.lock();
      try {
        return ++count;
      } finally {
        mutex.unlock();
        mutex.unlock();
      }
    }
  }

  /** A mutex that is always handed over, likewise. */
  public static class OfFairMutex extends OfMutex {
    public OfFairMutex() {
      super(Mutex.fair());
    }

    @Override
    @Operation
    public int next() {
      return super.next();
    }

    @Override
    @Operation
    public int nextAgain() throws InterruptedException {
      return super.nextAgain();
    }
  }

  /** A semaphore with two permits: a thread with both is alone. */
  public static class OfSemaphore {
    private final Semaphore semaphore = new Semaphore(2);
    private int count;

    @Operation
    public int next() throws InterruptedException {
      semaphore.acquire(2);
      try {
        return ++count;
      } finally {
        semaphore.release(2);
      }
    }

    @Operation
    public int look() throws InterruptedException {
      semaphore.acquire();
      try {
        return count;
      } finally {
        semaphore.release();
      }
    }
  }

  /** A shared mutex. */
  public static class OfSharedMutex {
    private final SharedMutex shared = new SharedMutex();
    private int count;

    @Operation
    public int next() {
      shared.writeLock().lock();
      try {
        return ++count;
      } finally {
        shared.writeLock().unlock();
      }
    }

    @Operation
    public int look() throws InterruptedException {
      shared.readLock().lockInterruptibly();
      try {
        return count;
      } finally {
        shared.readLock().unlock();
      }
    }
  }

  /** A token that one thread has at a time and the other threads wait for. */
  public static class OfConditionVariable {
    private final Mutex mutex = new Mutex();
    private final ConditionVariable free = new ConditionVariable();
    private boolean taken;
    private int count;

    @Operation
    public int next() throws InterruptedException {
      mutex.lock();
      try {
        while (taken) {
          free.await(mutex);
        }
        taken = true;
      } finally {
        mutex.unlock();
      }
      int mine = ++count;
      mutex.lock();
      try {
        taken = false;
        free.signal();
      } finally {
        mutex.unlock();
      }
      return mine;
    }
  }
}
