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
 * The front door.
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="run"}
 */
public final class Weft {
  private Weft() {}

  /**
   * Runs a body as a fiber, on this thread and as many more as there are other cores; returns when
   * no fiber is left. What the body throws comes out of here, checked exceptions as the cause of a
   * {@link CompletionException}. In a fiber or a {@link Coroutine} only other threads are used.
   *
   * @throws IllegalStateException if called inside {@code synchronized}, but for fibers and
   *     coroutines
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
    if (monitor != null) { // now, not in stop(), when fibers run already
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
    ((FiberEnd<T>) fiber).observe(); // its failure comes out of the future
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

  /** Submits a body to the current fiber's scheduler; outside fibers to the shared one. */
  public static Fiber<Void> go(Body body) {
    return SchedulerCore.here().go(body);
  }

  /** Submits a body with a result to the current fiber's scheduler, or the shared one. */
  public static <T> Fiber<T> go(Callable<T> body) {
    return SchedulerCore.here().go(body);
  }

  /**
   * Runs a body here and now, for so long at most. When the time is over the body is interrupted,
   * if this is a fiber every wait in it fails, and scopes that were opened in it are cancelled;
   * what the body throws then becomes the cause of the {@link TimeoutException}. Limits nest, and
   * the nearest wins.
   *
   * @throws TimeoutException if the body failed after the time was over; or the body's own, if it
   *     threw one before
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
   * Runs a body here and now that no cancellation disturbs: what has to be sent, written or
   * released though its fiber is to end.
   *
   * {@snippet class="dev.weft.FiberSnippetsTest" region="shielded"}
   *
   * <p>A cancel of this fiber, or of a scope that it is in, and the end of a {@linkplain
   * #withTimeout time limit} around the body wait until the body is through, whether they come
   * before it or during it: meanwhile they do not interrupt, no wait fails, and scopes that were
   * opened in the body go on. After the body they take effect, at the next cancel point. Shields
   * nest. What begins in the body is not shielded against its own ends: a limit in it, a scope in
   * it with its deadline and its failures. So put a {@code withTimeout} into the body, or a body
   * that waits for ever makes the fiber one that cannot be cancelled.
   *
   * <p>An interrupt by {@link Thread#interrupt} is no cancellation, and is delivered as usual.
   * Outside fibers, where it is the only one, an interrupt that came before the body is kept until
   * after it.
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
   * Runs a body that may block its thread, for what cannot be hooked: files, native code. This
   * fiber goes to a helper thread for it and comes back to its scheduler afterwards, so that none
   * of the scheduler's threads is blocked. It is the same fiber there, with its thread, thread
   * locals and scoped values; what the body returns or throws comes out of here as it is.
   *
   * {@snippet class="dev.weft.FiberSnippetsTest" region="blocking"}
   *
   * <p>In the body whatever waits, waits on the helper thread: locks, sleeps and sockets too.
   * {@link Fiber#yield} does nothing and {@link Fiber#switchTo(int) switchTo} is refused. A cancel
   * or a {@linkplain #withTimeout deadline} interrupts it. Other fibers run at the same time, also
   * those of a scheduler with one thread. A blocking call inside the body just runs its own.
   *
   * <p>The helper threads are shared by all schedulers: at most 64, or four times the number of
   * cores if that is more, or as {@code -Dweft.blocking.threads} says. Who finds none free waits,
   * first come, first served.
   *
   * <p>Outside fibers the body runs right here; also if a native method on its stack (or {@code
   * Hook.disable()}) pins the fiber to its thread, or if the system has no thread left for a
   * helper: that is as right, only that the scheduler's thread is blocked.
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
