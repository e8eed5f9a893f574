package dev.weft.internal.pool;

import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.switching.Mounting;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;

/** A fiber or thread that waits for room in a pool; the pool has not taken its task yet. */
final class PoolSubmitter {
  private final FiberPoolCore pool;
  private final Thread thread = Thread.currentThread();
  final Runnable task;

  // written under the pool's lock, by methods of FiberPoolCore that carry @GuardedBy; read without
  // it by the submitter
  private volatile boolean accepted;
  private volatile boolean refused;

  PoolSubmitter(FiberPoolCore pool, Runnable task) {
    this.pool = pool;
    this.task = task;
  }

  /** Waits until the pool has taken the task; throws if it refuses, or if the caller gives up. */
  void await() {
    FiberCore<?> self = FiberCore.currentOrNull();
    try {
      while (!accepted && !refused) {
        FiberCore.throwIfInterrupted(self);
        Mounting.park(pool);
      }
    } catch (InterruptedException e) {
      thread.interrupt();
      if (pool.withdraw(this)) {
        throw new RejectedExecutionException("interrupted while it waited for room in " + pool, e);
      }
    }
    if (refused) {
      throw pool.shutDown();
    }
  }

  /** Tells the submitter that the pool has taken its task; called under the pool's lock. */
  void accept() {
    accepted = true;
    LockSupport.unpark(thread);
  }

  /** Tells the submitter that the pool has been shut down; called under the pool's lock. */
  void refuse() {
    refused = true;
    LockSupport.unpark(thread);
  }
}
