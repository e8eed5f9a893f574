package dev.weft;

import dev.weft.internal.blocking.BlockingCall;
import dev.weft.internal.blocking.Helpers;
import dev.weft.internal.sched.Deadline;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.FiberEnd;
import dev.weft.internal.sched.OpenBlocks;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.switching.HeldMonitors;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

/**
 * Entry points: run a program of fibers, start fibers, limit, shield and block.
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="run"}
 */
public final class Weft {
  private Weft() {}

  /**
   * Runs a body as a fiber of a new scheduler, with this thread and a thread for each other core;
   * returns when no fiber is left. Throws what the body throws, checked exceptions as the cause of
   * a {@link CompletionException}. In a fiber or a {@link Coroutine} only other threads are used.
   *
   * @throws IllegalStateException if called inside {@code synchronized}, except in a fiber or a
   *     coroutine
   */
  public static void run(Body main) {
    call(withoutResult(Objects.requireNonNull(main, "main")));
  }

  private enum Nothing {
    NOTHING
  }

  private static Callable<Nothing> withoutResult(Body body) {
    return () -> {
      body.run();
      return Nothing.NOTHING;
    };
  }

  /** Like {@link #run}, and returns the result of the body. */
  public static <T> T call(Callable<T> main) {
    Objects.requireNonNull(main, "main");
    boolean useCaller =
        !Thread.currentThread().isVirtual() && Coroutine.currentOrNull() == null; // see stop()
    String monitor = useCaller ? HeldMonitors.describe(frame -> false) : null;
    if (monitor != null) { // checked here, because in stop() fibers run already
      throw new IllegalStateException("cannot run fibers on a thread that holds " + monitor);
    }
    Scheduler scheduler =
        Scheduler.builder()
            .name("weft-main")
            .useCaller(useCaller)
            .daemon(true)
            .failOnDeadlock(Boolean.getBoolean("weft.failOnDeadlock"))
            .reportLeaks("report".equals(System.getProperty("weft.leaks")))
            .build();
    CompletableFuture<T> result = begin(scheduler, main);
    scheduler.start();
    scheduler.stop();
    try {
      return result.join();
    } catch (CompletionException e) {
      throw unwrapped(e);
    }
  }

  /** Returns a future and not the fiber: a thread that holds a fiber hides its leak. */
  private static <T> CompletableFuture<T> begin(Scheduler scheduler, Callable<T> main) {
    Fiber<T> fiber = scheduler.go(FiberOptions.named("main"), main);
    ((FiberEnd<T>) fiber).observe(); // call() throws its failure
    return fiber.toFuture();
  }

  private static RuntimeException unwrapped(CompletionException e) {
    if (e.getCause() instanceof RuntimeException unchecked) {
      return unchecked;
    }
    if (e.getCause() instanceof Error error) {
      throw error;
    }
    return e;
  }

  /** Submits a body to the current fiber's scheduler; outside fibers to the shared scheduler. */
  public static Fiber<Void> go(Body body) {
    return SchedulerCore.here().go(body);
  }

  /** Submits a body with a result to the current fiber's scheduler, or the shared scheduler. */
  public static <T> Fiber<T> go(Callable<T> body) {
    return SchedulerCore.here().go(body);
  }

  /**
   * Runs a body on the current thread, with a time limit. When the limit passes, the thread is
   * interrupted, in a fiber every wait of the body fails, and scopes that were opened in the body
   * are cancelled; what the body throws then becomes the cause of the {@link TimeoutException}.
   * Limits nest, and the earliest deadline counts.
   *
   * @throws TimeoutException if the body failed after the limit had passed; or the body's own, if
   *     it threw one before
   * @throws CancellationException if the body was interrupted for another reason; the thread's
   *     interrupt status is set then
   * @throws CompletionException if the body threw another checked exception, which is the cause
   */
  public static <T> T withTimeout(Duration limit, Callable<T> body) throws TimeoutException {
    Objects.requireNonNull(body, "body");
    Deadline deadline = Deadline.start(limit);
    Throwable thrown = null;
    T result = null;
    try {
      result = body.call();
    } catch (Throwable e) {
      thrown = e;
    }
    boolean late = deadline.finish();
    if (thrown == null) {
      return result;
    }
    if (late) {
      throw timeout(limit, thrown);
    }
    throw rethrown(thrown);
  }

  /** Runs a body without a result, as {@link #withTimeout(Duration, Callable)} does. */
  public static void withTimeout(Duration limit, Body body) throws TimeoutException {
    withTimeout(limit, withoutResult(Objects.requireNonNull(body, "body")));
  }

  /**
   * Runs a body on the current thread in a shield, which holds cancels and deadlines back: for what
   * has to be sent, written or released although the fiber is cancelled.
   *
   * {@snippet class="dev.weft.FiberSnippetsTest" region="shielded"}
   *
   * <p>A cancel of this fiber, or of a scope that it is in, and the deadline of a {@linkplain
   * #withTimeout time limit} around the body are held back until the body has ended, whether they
   * come before it or during it: they do not interrupt, no wait fails, and scopes that were opened
   * in the body go on. After the body they take effect, at the next cancel point. Shields nest. The
   * shield does not hold back what begins inside the body: a time limit in it, the deadline and the
   * failures of a scope in it. So put a {@code withTimeout} into the body: a shielded body that
   * waits for ever cannot be cancelled.
   *
   * <p>An interrupt by {@link Thread#interrupt} is no cancel, and is delivered as usual. Outside
   * fibers, where an interrupt is the only request to end, an interrupt that came before the body
   * is kept until after it.
   *
   * @throws Exception whatever the body throws
   */
  public static <T> T shielded(Callable<T> body) throws Exception {
    Objects.requireNonNull(body, "body");
    return OpenBlocks.callShielded(FiberCore.currentOrNull(), body);
  }

  /** Runs a body without a result, as {@link #shielded(Callable)} does. */
  public static void shielded(Body body) throws Exception {
    shielded(withoutResult(Objects.requireNonNull(body, "body")));
  }

  /**
   * Runs a body that may block its thread, for calls that the hook does not serve: files, native
   * code. This fiber moves to a helper thread, runs the body there and returns to its scheduler, so
   * that none of the scheduler's threads is blocked. It is the same fiber there, with its thread,
   * thread locals and scoped values. Returns or throws what the body returns or throws.
   *
   * {@snippet class="dev.weft.FiberSnippetsTest" region="blocking"}
   *
   * <p>Every wait in the body holds the helper thread: locks, sleeps and sockets too. {@link
   * Fiber#yield} does nothing there and {@link Fiber#switchTo(int) switchTo} throws. A cancel or a
   * {@linkplain #withTimeout deadline} interrupts the body. Other fibers run at the same time, also
   * those of a scheduler with one thread. A blocking call inside the body runs on the same helper.
   *
   * <p>All schedulers share the helper threads: at most 64, or four times the number of cores if
   * that is more, or the value of {@code -Dweft.blocking.threads}. A call that finds no free helper
   * waits in a fair queue.
   *
   * <p>Outside fibers the body runs on the current thread. So it does if a native method on the
   * stack (or {@code Hook.disable()}) pins the fiber, or if the system has no thread left for a
   * helper: the result is the same, but the scheduler's thread is blocked.
   *
   * @throws InterruptedException if this fiber is cancelled, interrupted or past its deadline
   *     before the body begins
   * @throws Exception whatever the body throws
   */
  public static <T> T blocking(Callable<T> body) throws Exception {
    Objects.requireNonNull(body, "body");
    FiberCore<?> self = FiberCore.currentOrNull();
    return self == null ? body.call() : BlockingCall.run(self, Helpers.ofJvm(), true, body);
  }

  /** Runs a body without a result, as {@link #blocking(Callable)} does. */
  public static void blocking(Body body) throws Exception {
    blocking(withoutResult(Objects.requireNonNull(body, "body")));
  }

  private static TimeoutException timeout(Duration limit, Throwable cause) {
    TimeoutException e = new TimeoutException("not done within " + limit);
    e.initCause(cause);
    return e;
  }

  private static RuntimeException rethrown(Throwable thrown) throws TimeoutException {
    if (thrown instanceof TimeoutException own) {
      throw own;
    }
    if (thrown instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      CancellationException cancelled = new CancellationException("interrupted");
      cancelled.initCause(thrown);
      return cancelled;
    }
    return unwrapped(new CompletionException(thrown));
  }
}
