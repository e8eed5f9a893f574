package dev.weft.internal.sched;

import static dev.weft.internal.sched.Outcome.CANCELLING;
import static dev.weft.internal.sched.Outcome.NULL_RESULT;

import dev.weft.Fiber;
import dev.weft.internal.Uninterrupted;
import dev.weft.internal.sched.Outcome.Cancelled;
import dev.weft.internal.sched.Outcome.Failure;
import dev.weft.internal.switching.Mounting;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The end of a fiber: how it ended, the threads and callbacks that wait for that, and whether a
 * failure has been observed. {@link FiberCore} adds how the fiber runs until then. This is a
 * superclass and not an object of its own because a million fibers would have a million of them.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>{@link #outcome} changes as drawn in {@link Outcome}; once the fiber is done it stays.
 *   <li>No wake-up is lost: a caller of join adds its waiter and then looks at the outcome; the
 *       fiber sets the outcome and then closes the list of waiters.
 *   <li>To record the end and to wake the callers of join allocates nothing.
 * </ul>
 */
public abstract sealed class FiberEnd<T> extends Fiber<T> permits FiberThread {
  /** How often a plain thread checks for the end before it sleeps: for some microseconds. */
  private static final int CHECKS_BEFORE_SLEEP =
      Runtime.getRuntime().availableProcessors() > 1 ? 300 : 0;

  private static final VarHandle OUTCOME;
  private static final VarHandle WAITERS;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      OUTCOME = lookup.findVarHandle(FiberEnd.class, "outcome", Object.class);
      WAITERS = lookup.findVarHandle(FiberEnd.class, "waiters", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    EndWaiter.load();
  }

  // null, CANCELLING, or how it ended: a result, Failure or Cancelled
  private volatile @Nullable Object outcome;

  // null, an EndWaiter, EndWaiters if there are more, or CLOSED
  private volatile @Nullable Object waiters;

  // true if a failure need not be reported: a thread has called join, or will
  private volatile boolean observed;

  FiberEnd() {}

  /** Returns the scheduler it belongs to. */
  public abstract SchedulerCore core();

  /** Returns its virtual thread; null if it has none: it has not run, or has ended. */
  public abstract @Nullable Thread threadOrNull();

  // ---- asking for the end ----

  @Override
  public final boolean isDone() {
    Object seen = outcome;
    return seen != null && seen != CANCELLING;
  }

  @Override
  public final boolean isCancelled() {
    return outcome instanceof Cancelled;
  }

  /** Returns whether it has been cancelled and has not ended yet. */
  public final boolean isCancelling() {
    return outcome == CANCELLING;
  }

  /** Returns whether a callback or a thread waits for the end. */
  final boolean hasWaiters() {
    return waiters != null;
  }

  @Override
  public final T join() throws InterruptedException {
    CurrentFiber.yieldIfSliceExpired();
    if (!isDone()) {
      awaitEnd(null);
    }
    return result();
  }

  @Override
  public final T join(Duration limit) throws InterruptedException, TimeoutException {
    CurrentFiber.yieldIfSliceExpired();
    if (!isDone() && !awaitEnd(Objects.requireNonNull(limit, "limit"))) {
      throw new TimeoutException(this + " has not ended within " + limit);
    }
    return result();
  }

  @Override
  public final CompletableFuture<T> toFuture() {
    CompletableFuture<T> future = new CompletableFuture<>();
    atEnd(() -> complete(future));
    return future;
  }

  private void complete(CompletableFuture<T> future) {
    try {
      future.complete(result());
    } catch (CompletionException e) {
      future.completeExceptionally(e.getCause());
    } catch (CancellationException e) {
      future.completeExceptionally(e);
    }
  }

  private T result() {
    Object end = outcome;
    if (end instanceof Failure failure) {
      observe();
      throw new CompletionException(this + " failed: " + failure.cause(), failure.cause());
    }
    if (end instanceof Cancelled cancelled) {
      CancellationException e = new CancellationException(this + " was cancelled");
      if (cancelled.cause() != null) {
        observe();
        e.initCause(cancelled.cause());
      }
      throw e;
    }
    @SuppressWarnings("unchecked") // the body's own result, or null, which its type must allow
    T value = end == NULL_RESULT ? null : (T) end;
    return value;
  }

  /** What the body threw, also after a cancel; null if it did not, or only obeyed the cancel. */
  public final @Nullable Throwable failure() {
    return Outcome.failureOf(outcome);
  }

  /** Records that a thread which can act on the failure knows of it, or will. */
  public final void observe() {
    observed = true;
    core().unobserved.observed(this);
  }

  final boolean isObserved() {
    return observed;
  }

  // ---- waiting for the end ----

  /** Waits for the end; returns false if the limit, if any, is reached first. */
  private boolean awaitEnd(@Nullable Duration limit) throws InterruptedException {
    FiberCore<?> self = FiberCore.currentOrNull();
    if (self == this) {
      throw new IllegalStateException("cannot join " + this + ": it would wait for itself");
    }
    Thread me = Thread.currentThread();
    EndWaiter waiter = new EndWaiter(me);
    if ((!me.isVirtual() && endsSoon()) || !addWaiter(waiter)) {
      return true;
    }
    WaitLimit timeout = limit == null ? null : Timeout.of(self, limit);
    try {
      if (self != null) {
        self.joins = true;
      }
      while (!isDone()) {
        FiberCore.throwIfInterrupted(self);
        if (timeout == null) {
          Mounting.park(this);
        } else if (!timeout.park(this)) {
          return !removeWaiter(waiter);
        }
      }
      return true;
    } catch (Throwable e) {
      if (!removeWaiter(waiter)) {
        addUnobserved(); // It ended concurrently and counted this waiter as an observer.
      }
      throw e;
    } finally {
      if (self != null) {
        self.joins = false;
      }
      if (timeout != null) {
        timeout.close();
      }
    }
  }

  /**
   * Spins for about as long as it takes to sleep and be woken; the worker then need not unpark the
   * caller of join, which costs more than a slice. Only for plain threads: workers have other work.
   */
  private boolean endsSoon() {
    for (int i = 0; i < CHECKS_BEFORE_SLEEP; i++) {
      if (isDone()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  /** Waits for the end on a plain thread; a failure is still reported as unobserved. */
  final void awaitUnobserved() {
    EndWaiter onlooker = new EndWaiter(new EndWaiter.Onlooker(Thread.currentThread()));
    if (!isDone() && addWaiter(onlooker)) {
      Uninterrupted.await(
          () -> {
            while (!isDone()) {
              LockSupport.park(this);
              FiberCore.throwIfInterrupted(null);
            }
          });
    }
  }

  /** Has the fiber run a callback at its end; the caller runs it at once if the fiber has ended. */
  final void atEnd(Runnable callback) {
    if (!addWaiter(new EndWaiter(callback))) {
      callback.run();
    }
  }

  /** Adds a waiter; returns false if the fiber has ended. */
  private boolean addWaiter(EndWaiter added) {
    while (true) {
      Object seen = waiters;
      if (seen == EndWaiter.CLOSED) {
        return false;
      }
      if (seen instanceof EndWaiters several) {
        return several.add(added);
      }
      if (seen == null
          ? WAITERS.compareAndSet(this, null, added)
          : listWaiters((EndWaiter) seen, added)) {
        return true;
      }
    }
  }

  /** Makes a list of the only waiter and a second one; returns false if the waiter has changed. */
  private boolean listWaiters(EndWaiter first, EndWaiter second) {
    EndWaiters list = new EndWaiters();
    // Locked before it is published: the first waiter cannot leave before it is linked.
    list.lock();
    try {
      if (!WAITERS.compareAndSet(this, first, list)) {
        return false;
      }
      list.link(first);
      list.link(second);
      return true;
    } finally {
      list.unlock();
    }
  }

  /** Removes a waiter that gives up; returns false if the fiber has ended and told the waiter. */
  private boolean removeWaiter(EndWaiter gone) {
    return WAITERS.compareAndSet(this, gone, null)
        || (waiters instanceof EndWaiters several && several.remove(gone));
  }

  // ---- recording the end ----

  /**
   * Begins to cancel it: from now on it ends as cancelled. Returns false if it has ended or is
   * cancelled already; else the caller owes {@link FiberCore#deliverCancel}.
   */
  final boolean markCancelled() {
    return OUTCOME.compareAndSet(this, null, CANCELLING);
  }

  /**
   * Records how the body ended and tells the waiters; allocates nothing. Returns a failure that no
   * thread observes, or null.
   */
  final @Nullable Throwable recordEnd(Object result) {
    if (isDone()) {
      return null; // abandoned
    }
    if (!OUTCOME.compareAndSet(this, null, result)) {
      OUTCOME.compareAndSet(this, CANCELLING, Outcome.cancelled(result));
    }
    Throwable failure = failure();
    return tellWaiters() || observed ? null : failure;
  }

  /** Records that its scheduler will not run it again, though its body has not ended. */
  final void recordAbandoned() {
    String why = core() + " has stopped before the end of " + this;
    Cancelled abandoned = new Cancelled(new IllegalStateException(why));
    if (OUTCOME.compareAndSet(this, null, abandoned)
        || OUTCOME.compareAndSet(this, CANCELLING, abandoned)) {
      tellWaiters();
    }
  }

  /** Tells the waiters of the end; returns whether one of them observes a failure. */
  private boolean tellWaiters() {
    Object waiting = WAITERS.getAndSet(this, EndWaiter.CLOSED);
    EndWaiter oldest =
        waiting instanceof EndWaiters several ? several.close() : (EndWaiter) waiting;
    return oldest != null && oldest.tellAll();
  }

  private void addUnobserved() {
    Throwable failure = failure();
    if (failure != null && !observed) {
      core().unobserved.add(this, failure);
    }
  }
}
