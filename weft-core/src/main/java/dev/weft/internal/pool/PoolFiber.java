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

  // set under the pool's lock, right after it has been made
  FiberCore<Void> fiber;
  Future<?> end;

  // what it is to run next; written under the pool's lock
  volatile @Nullable Runnable task;

  // whether it runs a task, and whether it is in the pool's idle; under the pool's lock
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

  /** Gives it its next task; under the pool's lock. */
  void give(@Nullable Runnable next) {
    idle = false;
    task = next;
    wake();
  }

  void wake() {
    LockSupport.unpark(fiber.threadOrNull()); // one that has not begun will look by itself
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
