package dev.weft;

import dev.weft.internal.sched.Joiners;
import dev.weft.internal.sched.ScopeCore;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

/**
 * Structured concurrency: a block of code that no fiber started in it outlives.
 *
 * {@snippet class="dev.weft.ScopeSnippetsTest" region="all"}
 *
 * <p>The fiber or thread that opens a scope starts fibers with {@link #go} and then waits with
 * {@link #join}. The {@link Joiner} decides what counts as success, and when the rest is cancelled;
 * by default all fibers must succeed, and the first failure cancels the others. {@link #close}
 * cancels the fibers that {@code join} has not waited for and returns when the last fiber has
 * ended, whatever happened before.
 *
 * <p>Every fiber inside the scope may start more fibers in it, and {@code join} waits for those
 * too. Inside are the fibers that were started in it, and the fibers of scopes that were opened
 * inside it, by its opener or by these fibers. Fibers that were started in another way, with {@link
 * Weft#go} for instance, are not inside: they may outlive the scope.
 *
 * {@snippet class="dev.weft.ScopeSnippetsTest" region="crawl"}
 *
 * <p>A fiber runs on the scheduler of the fiber that started it, or on the shared scheduler if a
 * plain thread started it. It sees the {@link ScopedValue}s that were bound when the scope was
 * opened, also if the fiber that started it has bound others. If the opener is a fiber and is
 * cancelled, the scope is cancelled too, and with it all scopes that its fibers have opened; the
 * same happens when a {@linkplain Weft#withTimeout time limit} passes inside which the scope was
 * opened.
 *
 * <p>Only the opener may call {@code join} and {@code close}; any thread may call {@link #cancel}.
 * A mistake in the use of a scope throws an {@link IllegalStateException} where it is made. If a
 * fiber of the scope fails with it, {@code join} throws it too, however the joiner counts that
 * failure. A scope that a fiber leaves open when it ends is closed, and the fiber fails with an
 * {@code IllegalStateException}; a scope that another thread leaves open stays open.
 */
public abstract sealed class Scope implements AutoCloseable permits ScopeCore {
  /**
   * Decides when one scope has succeeded or failed: how the end of each fiber counts, when the
   * other fibers are not needed any more, and what {@link Scope#join} throws. After {@code join} it
   * has the result.
   *
   * {@snippet class="dev.weft.ScopeSnippetsTest" region="any"}
   *
   * <p>Its methods are called one at a time, {@code onGo} by the fiber or thread that calls {@link
   * Scope#go}, {@code onComplete} by the fiber that ends; they must not wait. A joiner serves one
   * scope.
   *
   * @param <R> the type of its result
   */
  public interface Joiner<R> {
    /**
     * Called when a fiber is started; returns true to cancel the scope.
     *
     * @param fiber the new fiber
     */
    default boolean onGo(Fiber<?> fiber) {
      return false;
    }

    /**
     * Called when a fiber has ended; returns true to cancel the scope.
     *
     * @param fiber the fiber: {@code fiber.toFuture()} is done and says how it ended
     */
    default boolean onComplete(Fiber<?> fiber) {
      return false;
    }

    /**
     * Returns the result. {@link Scope#join} calls it too, when all fibers have ended, and throws
     * what it throws.
     */
    R result();

    /**
     * Returns a joiner for which all fibers must succeed: the first failure cancels the others, and
     * is the cause of a {@link CompletionException} that has the later failures suppressed. A
     * cancelled fiber is no failure. The joiner keeps no results, so the number of fibers is not
     * limited by memory.
     */
    static Joiner<Void> awaitAllSuccessfulOrThrow() {
      return new Joiners.AwaitAllSuccessful();
    }

    /**
     * Returns a joiner for which all fibers must succeed, as {@link #awaitAllSuccessfulOrThrow};
     * its result is the list of their results, in the order in which they were started. Here a
     * cancelled fiber is a failure, because it has no result.
     *
     * @param <T> the type of the results of all fibers in the scope
     */
    static <T> Joiner<List<T>> allSuccessfulOrThrow() {
      return new Joiners.AllSuccessful<>();
    }

    /**
     * Returns a joiner for which one fiber must succeed: the first success cancels the others. If
     * no fiber succeeds, the first failure is the cause of a {@link CompletionException} that has
     * the later failures suppressed.
     *
     * @param <T> the type of the results of all fibers in the scope
     */
    static <T> Joiner<T> anySuccessfulResultOrThrow() {
      return new Joiners.AnySuccessful<>();
    }

    /**
     * Returns a joiner that waits for all fibers, however they end; its result is the list of the
     * fibers, in the order in which they were started. {@link Scope#join} throws no failure of a
     * fiber, unless it is a misuse of a scope: look at each fiber.
     */
    static Joiner<List<Fiber<?>>> awaitAll() {
      return new Joiners.AwaitAll();
    }
  }

  /** For Weft's own subclass. */
  protected Scope() {}

  /** Opens a scope in which all fibers must succeed. */
  public static Scope open() {
    return open(Joiner.awaitAllSuccessfulOrThrow());
  }

  /**
   * Opens a scope.
   *
   * @param joiner says what counts as success; not used before
   */
  public static Scope open(Joiner<?> joiner) {
    return ScopeCore.open(joiner, null);
  }

  /**
   * Opens a scope with a deadline: when it passes the fibers are cancelled and {@link #join}
   * throws.
   *
   * @param joiner says what counts as success; not used before
   * @param deadline how long the fibers may take, from now; if it is negative it has passed
   */
  public static Scope open(Joiner<?> joiner, Duration deadline) {
    return ScopeCore.open(joiner, Objects.requireNonNull(deadline, "deadline"));
  }

  /**
   * Starts a fiber of this scope: the body runs later. In a scope that is cancelled it never runs.
   *
   * @throws IllegalStateException if the caller is neither the opener nor a fiber inside this
   *     scope, if the scope has been joined or closed, or if the caller is the opener and has bound
   *     other scoped values than when it opened the scope
   */
  public abstract Fiber<Void> go(Body body);

  /** Starts a fiber with a result, as {@link #go(Body)} does. */
  public abstract <T> Fiber<T> go(Callable<T> body);

  /**
   * Starts a fiber with a name, as {@link #go(Body)} does.
   *
   * @param name what dumps and messages call it
   */
  public abstract Fiber<Void> go(String name, Body body);

  /**
   * Starts a fiber with a name and a result, as {@link #go(Body)} does.
   *
   * @param name what dumps and messages call it
   */
  public abstract <T> Fiber<T> go(String name, Callable<T> body);

  /**
   * Waits until all fibers have ended, also those that are started meanwhile, then throws what the
   * joiner throws.
   *
   * @throws CompletionException if the scope failed; the cause is the first failure, later failures
   *     are suppressed. If the deadline has passed, the cause is a {@link TimeoutException}
   * @throws CancellationException if the opener is cancelled or interrupted, with its interrupt
   *     status set, if the limit of a {@link Weft#withTimeout} around the scope passed before its
   *     fibers had ended, or if the result of a cancelled fiber is missing
   * @throws IllegalStateException if the caller did not open this scope, if it is closed, or if a
   *     scope that was opened after it is still open
   */
  public abstract void join();

  /**
   * Cancels the fibers that are left and returns when the last fiber has ended; neither an
   * interrupt nor a cancel ends that wait.
   *
   * @throws CompletionException if there was no {@link #join} and a fiber has failed
   * @throws IllegalStateException if there was no {@code join} after a {@link #go}, if scopes that
   *     were opened after this one were still open (they are closed now), or if the caller did not
   *     open it
   */
  @Override
  public abstract void close();

  /** Cancels all fibers of this scope, and all scopes that they have opened; waits for none. */
  public abstract void cancel();
}
