package dev.weft.internal.sched;

import dev.weft.internal.Clock;
import dev.weft.internal.Nanos;
import dev.weft.internal.switching.Mounting;
import dev.weft.internal.timer.TimerNode;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A limited wait of a fiber, by a timer of its worker. Invariant: the timer is queued from {@link
 * #of} until it expires or is closed. It has 40 bytes, because each sleeping fiber has one.
 */
public final class Timeout extends TimerNode implements WaitLimit {
  private final Thread thread = Thread.currentThread();
  private final Worker worker;
  private volatile boolean expired;

  private Timeout(Worker worker) {
    this.worker = worker;
  }

  /** Begins a wait of the caller, which is this fiber, or null for a plain thread. */
  public static WaitLimit of(@Nullable FiberCore<?> self, Duration limit) {
    long nanos = Nanos.of(limit);
    if (self == null || !self.canLeaveThread()) {
      return new OfThread(Clock.SYSTEM.nanoTime() + nanos);
    }
    Worker worker = self.worker;
    Timeout timeout = new Timeout(worker);
    worker.add(timeout, worker.scheduler.clock.nanoTime() + nanos);
    return timeout;
  }

  @Override
  public boolean park(Object blocker) {
    if (expired) {
      return false;
    }
    return Mounting.parkUnlessPinned(blocker) ? !expired : parkPinned(blocker);
  }

  /** Parks the worker's thread: it runs no loop meanwhile that would fire this timer. */
  private boolean parkPinned(Object blocker) {
    long left = deadline() - worker.scheduler.clock.nanoTime();
    if (left > 0) {
      LockSupport.parkNanos(blocker, left);
    }
    return left > 0 && !expired;
  }

  @Override
  public void onExpired() {
    expired = true;
    FiberCore.unpark(thread);
  }

  @Override
  public void close() {
    if (!expired) {
      worker.remove(this);
    }
  }

  /** A limited wait of a plain thread, or of a fiber that holds its thread. */
  private record OfThread(long deadline) implements WaitLimit {
    @Override
    public boolean park(Object blocker) {
      long nanos = deadline - Clock.SYSTEM.nanoTime();
      if (nanos > 0) {
        LockSupport.parkNanos(blocker, nanos);
      }
      return nanos > 0;
    }

    @Override
    public void close() {}
  }
}
