package dev.weft.internal.hook;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.Nanos;
import dev.weft.internal.sched.Worker;
import dev.weft.internal.timer.TimerNode;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The timer of a timed park or wait of a fiber: {@code Thread.sleep}, {@code tryLock}, {@code
 * poll}, {@code Object.wait}. The JDK ({@code VirtualThread.afterYield}) sets it on the worker's
 * thread, after the fiber has unmounted, and cancels it when the fiber goes on.
 */
final class HookedTimer extends TimerNode implements ScheduledFuture<Object> {
  private final Worker worker;
  private final Runnable command;

  private HookedTimer(Worker worker, Runnable command) {
    this.worker = worker;
    this.command = command;
  }

  /** Sets a timer of the current thread's worker; returns null if the thread is not a worker. */
  static @Nullable ScheduledFuture<?> schedule(Runnable command, long nanos) {
    Worker worker = HookFamilies.timers ? Worker.ofThisThread() : null;
    if (worker == null) {
      return null;
    }
    HookedTimer timer = new HookedTimer(worker, command);
    worker.add(timer, worker.scheduler.clock.nanoTime() + Math.min(nanos, Nanos.FOREVER));
    return timer;
  }

  @Override
  public void onExpired() {
    command.run();
  }

  @Override
  public boolean cancel(boolean mayInterrupt) {
    return isQueued() && worker.remove(this); // checked first: it has expired as a rule
  }

  // ---- methods of ScheduledFuture that VirtualThread does not call ----

  @Override
  public boolean isCancelled() {
    return false;
  }

  @Override
  public boolean isDone() {
    return !isQueued();
  }

  @Override
  public Object get() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Object get(long timeout, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long getDelay(TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int compareTo(Delayed other) {
    throw new UnsupportedOperationException();
  }
}
