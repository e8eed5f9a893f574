package dev.weft.internal.sched;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;

/**
 * What a thread of a pool runs once for each time that it is offered, unless the offer is taken
 * back first. The flag decides and not the pool's queue: without memory a pool may fail before or
 * after it has queued the task, and may even have run it. A task that is still in the queue after
 * its offer was taken back does nothing there.
 */
abstract class ComputingTask implements Runnable {
  private static final VarHandle OFFERED;

  static {
    try {
      OFFERED = MethodHandles.lookup().findVarHandle(ComputingTask.class, "offered", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile boolean offered;

  /** Offers it to the pool; returns false if the pool never runs it for this offer. */
  final boolean offerTo(Executor pool) {
    offered = true;
    try {
      pool.execute(this);
      return true;
    } catch (OutOfMemoryError e) { // no memory, or no more threads that the system allows
      return !takeBack();
    }
  }

  /** Takes the offer back; returns false if a thread of the pool has accepted it. */
  final boolean takeBack() {
    return offered && OFFERED.compareAndSet(this, true, false);
  }

  @Override
  public final void run() {
    if (takeBack()) {
      runOffered();
    }
  }

  /** Does what is to be done once for each offer; called on a thread of the pool. */
  abstract void runOffered();
}
