package dev.weft.internal.sched;

import dev.weft.FiberOptions;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * What ends the waits of a fiber before their time: its cancel, and deadlines that have passed,
 * unless a shield holds them back. The blocks that a fiber is in are {@link OpenBlocks}, where the
 * protocol between a canceller and the fiber is written down.
 */
public abstract sealed class FiberCancel<T> extends FiberThread<T> permits FiberCore {
  private static final VarHandle EXPIRED_DEADLINES;

  static {
    try {
      EXPIRED_DEADLINES =
          MethodHandles.lookup().findVarHandle(FiberCancel.class, "expiredDeadlines", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // true once the thread that cancelled it has interrupted it, or seen that it must not yet
  private volatile boolean cancelSent;

  // the scopes, deadlines and shields it is in; null if it never was in any; set by this fiber
  volatile @Nullable OpenBlocks blocks;

  // the scope it was started in, until it leaves that; set before it begins
  @Nullable ScopeCore memberOf;

  // how many deadlines have passed that their withTimeout has not yet noticed
  @SuppressWarnings("unused")
  private volatile int expiredDeadlines;

  FiberCancel(FiberOptions options, Object body) {
    super(options, body);
  }

  FiberCancel(FiberOptions options, Thread thread, Runnable slice) {
    super(options, thread, slice);
  }

  @Override
  public final boolean cancel() {
    boolean first = markCancelled();
    if (first) {
      deliverCancel();
    }
    return first;
  }

  /**
   * Cancels it, but not the scopes that it has opened; returns whether this was the first cancel.
   */
  final boolean cancelAlone() {
    boolean first = markCancelled();
    if (first) {
      interruptForCancel();
    }
    return first;
  }

  final void deliverCancel() {
    interruptForCancel();
    OpenBlocks open = blocks;
    if (open != null) {
      ScopeTree.cancelAllOf(open);
    }
  }

  private void interruptForCancel() {
    try {
      Thread waiting = threadOrNull();
      OpenBlocks open = blocks;
      if (waiting != null && (open == null || !open.isShielded())) {
        waiting.interrupt(); // a cancelled fiber without a thread will not start its body
      }
    } finally {
      cancelSent = true;
    }
  }

  /**
   * If it is cancelled, waits until the canceller has interrupted it or has seen that it must not,
   * and returns true. Called by this fiber.
   */
  final boolean awaitCancelSent() {
    if (!isCancelling()) {
      return false;
    }
    while (!cancelSent) {
      Thread.yield(); // the canceller may be a fiber of the same worker
    }
    return true;
  }

  final void deadlineExpired() {
    EXPIRED_DEADLINES.getAndAdd(this, 1);
  }

  /** Called by this fiber when the withTimeout of a deadline that has passed ends. */
  final void deadlineFinished() {
    EXPIRED_DEADLINES.getAndAdd(this, -1);
  }

  /** Returns whether it is cancelled and no shield holds that back; asked by this fiber. */
  final boolean isCancelInForce() {
    OpenBlocks open = blocks;
    return isCancelling() && (open == null || !open.isShielded());
  }

  private boolean isPastDeadline() {
    OpenBlocks open = blocks;
    return expiredDeadlines > 0 && open != null && open.isPastDeadline();
  }

  /** Returns whether each wait of this fiber, the current one, is to fail. */
  final boolean mustGiveUp() {
    return (isCancelling() || expiredDeadlines > 0) && (isCancelInForce() || isPastDeadline());
  }

  final void throwIfCancelled() {
    if (mustGiveUp()) {
      throw new CancellationException(whyItMustGiveUp());
    }
  }

  /**
   * Checks for what ends a wait of the caller, which is this fiber or, if null, a plain thread; and
   * clears the interrupt status.
   *
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline
   */
  public static void throwIfInterrupted(@Nullable FiberCore<?> self) throws InterruptedException {
    if (self != null && self.mustGiveUp()) {
      Thread.interrupted();
      throw new InterruptedException(self.whyItMustGiveUp());
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  final String whyItMustGiveUp() {
    return this + (isPastDeadline() ? " has passed its deadline" : " is cancelled");
  }

  // ---- looks ----

  /** Returns whether it has opened a scope and not closed it. */
  public final boolean hasOpenScope() {
    OpenBlocks open = blocks;
    return open != null && open.scope() != null;
  }

  /** Returns whether a deadline may end its waits; other threads may get an outdated answer. */
  public final boolean hasDeadline() {
    OpenBlocks open = blocks;
    return open != null && open.deadline() != null;
  }
}
