package dev.weft;

import dev.weft.internal.jdk.RequiredFlags;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.FiberEnd;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

/**
 * A virtual thread that Weft schedules: it runs a body on the workers of a {@link Scheduler} and
 * leaves its worker whenever it waits.
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="go-and-join"}
 *
 * <p>As it is a virtual thread, thread locals, {@code synchronized}, locks, debuggers and every
 * blocking call of the JDK work in it. A virtual thread that is started inside a fiber runs on the
 * same scheduler and is a fiber too, a <em>guest</em>.
 *
 * <pre>
 *            go
 *             │
 *             ▼     taken by a worker
 *           READY ─────────────────────► RUNNING ───► DONE     the body has ended
 *             ▲ ▲                         │   │
 *             │ └──────── yield ──────────┘   │ sleep, suspend, join, lock, I/O…
 *             │                               ▼
 *             └───────── unpark ─────────── WAITING
 * </pre>
 *
 * @param <T> the type of the result of its body
 */
public abstract sealed class Fiber<T> permits FiberEnd {
  /** Where a fiber is in its life. */
  public enum Status {
    /** The fiber can run and waits for a worker. */
    READY,
    /** The fiber runs on a thread of its scheduler, or in a blocking call on a helper thread. */
    RUNNING,
    /** The fiber waits for something: a timer, another fiber, a lock, I/O. */
    WAITING,
    /** The body of the fiber has ended. */
    DONE
  }

  static {
    RequiredFlags.check(); // before a class is needed that cannot be loaded without them
  }

  /** For Weft's own subclass. */
  protected Fiber() {}

  // ---- called on any thread ----

  /** Returns the number that identifies this fiber in this JVM. */
  public abstract long id();

  /**
   * Returns its name, which is the name of its thread: the given name, else {@code fiber-<id>},
   * until {@link Thread#setName} changes it. (The thread of a guest may have an empty name; this
   * method returns {@code fiber-<id>} then.)
   */
  public abstract String name();

  /** Returns its priority, for {@linkplain Policy policies}; 0 is normal. */
  public abstract int priority();

  /** Returns where it is in its life. */
  public abstract Status status();

  /**
   * Returns whether it has ended, in whatever way: with a result, a failure, or cancelled. Then
   * {@link #join} does not wait.
   */
  public abstract boolean isDone();

  /**
   * Returns whether it has ended as cancelled, so that {@link #join} throws a {@link
   * CancellationException}. False for a fiber that was cancelled and has not ended yet.
   */
  public abstract boolean isCancelled();

  /** Returns the scheduler it runs on. */
  public abstract Scheduler scheduler();

  /**
   * Returns its virtual thread, started: {@link Thread#join() join}, {@link Thread#isAlive()
   * isAlive} and {@link Thread#getState() getState} answer for the fiber. A fiber that has ended
   * keeps its thread only if this method was called before its end; else this method returns
   * another thread of the same name, which has ended too.
   */
  public abstract Thread thread();

  /**
   * Waits for its end and returns its result.
   *
   * @throws CompletionException if the body threw; the cause is what it threw
   * @throws CancellationException if it was cancelled
   * @throws InterruptedException if the caller is interrupted or cancelled
   */
  public abstract T join() throws InterruptedException;

  /**
   * Waits for its end, up to a time limit.
   *
   * @throws TimeoutException if it has not ended within the limit; the fiber goes on
   */
  public abstract T join(Duration limit) throws InterruptedException, TimeoutException;

  /**
   * Asks it to end. If it has not started, its body never runs; if it waits, the wait ends with an
   * {@link InterruptedException} or {@link CancellationException}, and so does each later wait; if
   * it is in {@link Weft#shielded}, the cancel takes effect after the shield. Returns false if the
   * fiber had already ended, or had been cancelled before.
   */
  public abstract boolean cancel();

  /** Returns a future of its result; cancelling the future does not cancel the fiber. */
  public abstract CompletableFuture<T> toFuture();

  // ---- called by the running fiber ----

  /** Returns the fiber that calls, or empty on any other thread. */
  public static Optional<Fiber<?>> current() {
    return Optional.ofNullable(FiberCore.currentOrNull());
  }

  /**
   * Lets other fibers run: the current fiber goes to the back of the ready queue.
   *
   * @throws CancellationException if this fiber is cancelled
   * @throws IllegalStateException if called outside a fiber
   */
  public static void yield() {
    CurrentFiber.yieldNow();
  }

  /**
   * Waits until {@link Scheduler#schedule(Fiber)} is called for this fiber; returns at once if
   * schedule was called since the last suspend.
   *
   * @throws CancellationException if this fiber is cancelled
   * @throws IllegalStateException if called outside a fiber
   */
  public static void suspend() {
    CurrentFiber.suspend();
  }

  /**
   * Waits for a duration.
   *
   * @throws InterruptedException if this fiber is cancelled or interrupted
   */
  public static void sleep(Duration duration) throws InterruptedException {
    CurrentFiber.sleep(duration);
  }

  /**
   * Waits until a time of the wall clock. The duration is computed once, now, and measured by the
   * monotonic clock: a later change of the wall clock has no effect.
   */
  public static void sleepUntil(Instant time) throws InterruptedException {
    CurrentFiber.sleep(Duration.between(Instant.now(), time));
  }

  /**
   * Moves this fiber to another scheduler; it goes on there, bound to no thread.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the target has been stopped; the
   *     fiber stays where it is
   */
  public static void switchTo(Scheduler target) {
    CurrentFiber.switchTo(target);
  }

  /** Moves this fiber to another thread of its scheduler and binds it there. */
  public static void switchTo(int threadIndex) {
    CurrentFiber.switchTo(threadIndex);
  }

  /**
   * Returns the index of the scheduler's thread that runs the caller: -1 outside fibers, and in the
   * body of {@link Weft#blocking}, which a helper thread runs.
   */
  public static int threadIndex() {
    return CurrentFiber.threadIndex();
  }
}
