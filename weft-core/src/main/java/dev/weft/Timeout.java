package dev.weft;

import dev.weft.internal.Clock;
import dev.weft.internal.FiberAccess;
import dev.weft.internal.Nanos;
import dev.weft.internal.timer.TimerNode;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A limited wait of the current thread: a fiber waits by a timer of its worker, a plain thread by a
 * timed park. Invariant: the timer is queued from the constructor until it expires or is closed.
 */
final class Timeout extends TimerNode implements FiberAccess.Limit {
  private final Thread thread = Thread.currentThread();
  private final Clock clock;
  private final long deadline;

  // where the timer is; null for a plain thread, and for a fiber that holds its thread
  private final @Nullable Worker worker;

  private volatile boolean expired;

  Timeout(@Nullable Fiber<?> self, Duration limit) {
    worker = self == null || !self.canLeaveThread() ? null : self.worker;
    clock = worker == null ? Clock.SYSTEM : worker.scheduler.clock;
    deadline = clock.nanoTime() + Nanos.of(limit);
    if (worker != null) {
      worker.add(this, deadline);
    }
  }

  @Override
  public boolean park(Object blocker) {
    if (worker == null) {
      long nanos = deadline - clock.nanoTime();
      if (nanos > 0) {
        LockSupport.parkNanos(blocker, nanos);
      }
      return nanos > 0;
    }
    if (!expired) {
      LockSupport.park(blocker);
    }
    return !expired;
  }

  @Override
  public void onExpired() {
    expired = true;
    LockSupport.unpark(thread);
  }

  @Override
  public void close() {
    if (worker != null && !expired) {
      worker.remove(this);
    }
  }
}
