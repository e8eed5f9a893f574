package dev.weft.internal.pool;

import dev.weft.Body;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.ScopeTree;
import dev.weft.internal.sched.Timeout;
import dev.weft.internal.sched.WaitLimit;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One fiber of a pool: takes task after task from the pool and runs them. */
final class PoolFiber implements Body {
  private final FiberPoolCore pool;

  // Guarded by the pool's lock, which Error Prone cannot follow to here: the methods of
  // FiberPoolCore that touch these carry @GuardedBy.

  // set right after the fiber has been made
  FiberCore<Void> fiber;
  Future<?> end;

  // the next task; also read without the lock, by this fiber while it waits
  volatile @Nullable Runnable task;

  // whether the fiber runs a task, and whether it is in the pool's idle
  boolean busy;
  boolean idle;

  PoolFiber(FiberPoolCore pool) {
    this.pool = pool;
  }

  @Override
  public void run() {
    for (Runnable next = pool.take(this); next != null; next = pool.take(this)) {
      try {
        next.run();
      } catch (Throwable e) {
        if (!(e instanceof CancellationException && fiber.isCancelling())) {
          pool.scheduler.unobserved.report(fiber, e);
        }
      } finally {
        endScopes();
      }
    }
  }

  /** Ends the scopes that a task has left open: the next task must not find them. */
  private void endScopes() {
    if (fiber.hasOpenScope()) {
      pool.scheduler.unobserved.report(fiber, ScopeTree.endLeftOpen(fiber, "a task of " + fiber));
    }
  }

  /** Gives the fiber its next task, or null to end; called under the pool's lock. */
  void give(@Nullable Runnable next) {
    idle = false;
    task = next;
    wake();
  }

  void wake() {
    LockSupport.unpark(
        fiber.threadOrNull()); // a fiber that has not begun has no thread, and looks for a task
    // first
  }

  /** Waits for a task, for as long as idle fibers are kept. */
  void await(Duration keepAlive) {
    try (WaitLimit limit = Timeout.of(fiber, keepAlive)) {
      do {
        Thread.interrupted(); // meant for a task that is over
      } while (task == null && pool.isRunning() && !fiber.isCancelling() && limit.park(pool));
    }
  }
}
