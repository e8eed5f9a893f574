package dev.weft;

import dev.weft.internal.Nanos;
import dev.weft.internal.timer.TimerNode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A limit on what the current thread does between {@link #start} and {@link #finish}: when the time
 * is over the thread is interrupted, and if it is a fiber each wait of it fails until finish.
 *
 * <p>Invariant: whoever takes the state away from RUNNING decides. If the timer does, finish waits
 * for its interrupt and takes it back, so that none is left over.
 */
final class Deadline extends TimerNode {
  private static final int RUNNING = 0;
  private static final int EXPIRING = 1;
  private static final int EXPIRED = 2;
  private static final int FINISHED = 3;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Deadline.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Thread thread = Thread.currentThread();
  private final @Nullable Fiber<?> fiber = Fiber.currentOrNull();
  private final Worker worker;

  @SuppressWarnings("unused")
  private volatile int state = RUNNING;

  private Deadline() {
    worker = fiber != null ? fiber.worker : Scheduler.shared().placeFor(null);
  }

  static Deadline start(Duration limit) {
    Deadline deadline = new Deadline();
    long now = deadline.worker.scheduler.clock.nanoTime();
    deadline.worker.addTimer(deadline, now + Nanos.of(limit));
    return deadline;
  }

  /** Returns whether the time was over before this was called. */
  boolean finish() {
    if (STATE.compareAndSet(this, RUNNING, FINISHED)) {
      worker.removeTimer(this);
      return false;
    }
    while (state != EXPIRED) {
      Thread.onSpinWait();
    }
    Thread.interrupted();
    if (fiber != null) {
      fiber.deadlineNoticed();
    }
    return true;
  }

  @Override
  public void onExpired() {
    if (STATE.compareAndSet(this, RUNNING, EXPIRING)) {
      if (fiber != null) {
        fiber.deadlineExpired();
      }
      thread.interrupt();
      state = EXPIRED;
    }
  }
}
