package dev.weft;

import dev.weft.internal.jdk.ScopedBindings;
import dev.weft.internal.jdk.Slices;
import dev.weft.time.Timer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A block of code with fibers of its own: none of them outlives it.
 *
 * {@snippet class="dev.weft.ScopeSnippetsTest" region="all"}
 *
 * <p>The one who opens it submits with {@link #go} and then waits with {@link #join}. What counts
 * as success, and when the rest is cancelled, is for the {@link Joiner} to say; without one all
 * must succeed, and the first failure cancels the others. {@link #close} cancels what {@code join}
 * has not waited for and returns when the last fiber has ended, whatever happened before.
 *
 * <p>The fibers run on the scheduler of the opener, else on the shared one, and see the {@link
 * ScopedValue}s that were bound when the scope was opened. If the opener is a fiber and is
 * cancelled, so is the scope, and with it all scopes that its fibers have opened.
 *
 * <p>{@code open}, {@code go}, {@code join} and {@code close} are for the opener alone; {@link
 * #cancel} is for everybody.
 */
public final class Scope implements AutoCloseable {
  /*
   *           OPEN -> JOINED    // join has waited for all; no more go
   *   OPEN, JOINED -> CLOSED    // close
   *
   * Invariants:
   *  - running holds the fibers that have begun and not ended, callbacks of their futures included;
   *    the joiner has been told of all others. join() and close() return only when it is empty.
   *  - Once cancelled is set, each fiber in running has been cancelled or is about to be, by the one
   *    who set it or by the one who began the fiber; and a deadline comes too late.
   *  - cancelled and running, and all calls of the joiner, are under the lock. It is held for a
   *    moment only and never while waiting.
   *  - Scopes of one owner form a stack, from its innermost along outer.
   */
  private enum State {
    OPEN,
    JOINED,
    CLOSED
  }

  /**
   * Decides what comes of the fibers of one scope: how the end of each counts, when the others are
   * not needed any more, and what {@link Scope#join} throws. After {@code join} it has the result.
   *
   * {@snippet class="dev.weft.ScopeSnippetsTest" region="any"}
   *
   * <p>Its methods are called one at a time, {@code onGo} by the opener, {@code onComplete} by the
   * fiber that ends; they must not wait. A joiner serves one scope.
   *
   * @param <R> the type of its result
   */
  public interface Joiner<R> {
    /**
     * Takes note of a fiber that is submitted; returns true to cancel the scope.
     *
     * @param fiber the new one
     */
    default boolean onGo(Fiber<?> fiber) {
      return false;
    }

    /**
     * Takes note of a fiber that has ended; returns true to cancel the scope.
     *
     * @param fiber the one: {@code fiber.toFuture()} is done and says how it ended
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
     * Returns a joiner for which all must succeed: the first failure cancels the others, and comes
     * out as the cause of a {@link CompletionException} that has theirs suppressed. A fiber that
     * somebody cancelled is no failure. It keeps no results, so the scope may have fibers without
     * number.
     */
    static Joiner<Void> awaitAllSuccessfulOrThrow() {
      return new Joiners.AwaitAllSuccessful();
    }

    /**
     * Returns a joiner for which all must succeed, as {@link #awaitAllSuccessfulOrThrow}; its
     * result is those of the fibers, in the order they were submitted. Here a cancelled fiber is a
     * failure, for it has no result.
     *
     * @param <T> the type of the results of all fibers in the scope
     */
    static <T> Joiner<List<T>> allSuccessfulOrThrow() {
      return new Joiners.AllSuccessful<>();
    }

    /**
     * Returns a joiner for which one must succeed: the first to do so cancels the others. If none
     * does, the first failure comes out as the cause of a {@link CompletionException} that has the
     * others suppressed.
     *
     * @param <T> the type of the results of all fibers in the scope
     */
    static <T> Joiner<T> anySuccessfulResultOrThrow() {
      return new Joiners.AnySuccessful<>();
    }

    /**
     * Returns a joiner that waits for all, however they end; its result is the fibers, in the order
     * they were submitted. No failure comes out of {@link Scope#join}: look at each fiber.
     */
    static Joiner<List<Fiber<?>>> awaitAll() {
      return new Joiners.AwaitAll();
    }
  }

  /** The innermost scopes of threads that are no fibers. */
  private static final ThreadLocal<@Nullable Scope> OF_PLAIN_THREADS = new ThreadLocal<>();

  private final Thread owner = Thread.currentThread();
  private final @Nullable Fiber<?> ownerFiber = Fiber.currentOrNull();
  private final @Nullable Scope outer;
  private final Object bindings = ScopedBindings.current();
  private final Joiner<?> joiner;
  private final @Nullable Duration limit;
  private final @Nullable Timer deadline;

  private final ReentrantLock lock = new ReentrantLock();
  private final Set<Fiber<?>> running = new HashSet<>();
  private boolean cancelled;

  // under the lock too, written before the last fiber has left running
  private boolean deadlinePassed; // before anything else has cancelled it
  private boolean expired; // with work left
  private @Nullable Throwable brokenJoiner;

  // the owner only
  private State state = State.OPEN;
  private boolean anyToJoin;

  private Scope(Joiner<?> joiner, @Nullable Duration limit) {
    this.joiner = joiner;
    this.limit = limit;
    this.outer = innermost();
    this.deadline = limit == null ? null : startTimer(limit);
  }

  private Timer startTimer(Duration limit) {
    Duration delay = limit.isNegative() ? Duration.ZERO : limit;
    return Weft.here().timers().after(delay, this::expire);
  }

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
    return enter(new Scope(Objects.requireNonNull(joiner, "joiner"), null));
  }

  /**
   * Opens a scope whose fibers are cancelled when the time is over; {@link #join} then throws.
   *
   * @param joiner says what counts as success; not used before
   * @param deadline how long the fibers may take, from now; if it is negative it has passed
   */
  public static Scope open(Joiner<?> joiner, Duration deadline) {
    Objects.requireNonNull(deadline, "deadline");
    return enter(new Scope(Objects.requireNonNull(joiner, "joiner"), deadline));
  }

  private static Scope enter(Scope scope) {
    scope.setInnermost(scope);
    if (scope.ownerFiber != null && scope.ownerFiber.isCancelling()) {
      scope.cancel(); // it came before the fiber knew of this scope
    }
    return scope;
  }

  /**
   * Submits a body; it runs later, as a fiber of this scope. In a scope that is cancelled it never
   * runs.
   *
   * @throws IllegalStateException if the caller did not open this scope, if it has been joined or
   *     closed, if one opened after it is still open, or if other scoped values are bound than when
   *     it was opened
   */
  public Fiber<Void> go(Body body) {
    return begin(Objects.requireNonNull(body, "body"));
  }

  /** Submits a body with a result, as {@link #go(Body)} does. */
  public <T> Fiber<T> go(Callable<T> body) {
    return begin(Objects.requireNonNull(body, "body"));
  }

  private <T> Fiber<T> begin(Object body) {
    checkUsable("go in");
    if (state == State.JOINED) {
      throw refusal("go in", "it has been joined; open a new scope");
    }
    if (ScopedBindings.current() != bindings) {
      throw refusal("go in", "other scoped values are bound than when it was opened");
    }
    return Weft.here().begin(FiberOptions.DEFAULT, new Inheriting(body, bindings), this);
  }

  /** Takes in a fiber that has not begun; if the scope is cancelled it never will. */
  void add(Fiber<?> fiber) {
    anyToJoin = true;
    fiber.atEnd(new Member(this, fiber)); // before anybody else can: see EndWaiter
    boolean tooLate;
    boolean enough;
    lock.lock();
    try {
      running.add(fiber);
      expired |= deadlinePassed;
      tooLate = cancelled;
      enough = askJoiner(() -> joiner.onGo(fiber));
    } finally {
      lock.unlock();
    }
    if (tooLate) {
      fiber.cancel(); // the others have been
    } else if (enough) {
      cancel();
    }
  }

  /** A body that is to run with the scoped values of the one who opened its scope. */
  record Inheriting(Object body, Object bindings) {}

  /**
   * Waits until all fibers have ended, then lets the joiner say how it went.
   *
   * @throws CompletionException if it did not go well; the cause is the first failure, those of
   *     others are suppressed. If the deadline has passed, the cause is a {@link TimeoutException}
   * @throws CancellationException if the opener is cancelled or interrupted, with its interrupt
   *     status set, or if the result of a fiber is missing that was cancelled
   */
  public void join() {
    checkUsable("join");
    anyToJoin = false; // also if this wait is interrupted
    Fiber.giveWay();
    try {
      awaitEnd(true);
    } catch (InterruptedException e) {
      owner.interrupt();
      CancellationException interrupted =
          new CancellationException("interrupted while joining " + this);
      interrupted.initCause(e);
      throw interrupted;
    }
    state = State.JOINED;
    throwIfFailed();
  }

  private void throwIfFailed() {
    if (brokenJoiner != null) {
      throw new CompletionException("the joiner of " + this + " failed", brokenJoiner);
    }
    if (expired) {
      throw expiry();
    }
    joiner.result();
  }

  private CompletionException expiry() {
    CompletionException late =
        new CompletionException(new TimeoutException(this + " was not done within " + limit));
    try {
      joiner.result();
    } catch (CancellationException e) {
      // the deadline's own doing
    } catch (RuntimeException e) { // a failure, or a joiner of the user's that misses results
      late.addSuppressed(e);
    }
    return late;
  }

  /** Cancels all fibers of this scope, and all scopes that they have opened; waits for none. */
  public void cancel() {
    Deque<Scope> todo = new ArrayDeque<>();
    todo.add(this);
    cancelAll(todo);
  }

  /** Called for a fiber that is cancelled: so are all the scopes that it has opened. */
  static void cancelAll(@Nullable Scope innermost) {
    if (innermost != null) {
      Deque<Scope> todo = new ArrayDeque<>();
      add(innermost, todo);
      cancelAll(todo);
    }
  }

  /** Goes down the tree with a list: it may be deeper than the stack. */
  private static void cancelAll(Deque<Scope> todo) {
    for (Scope scope = todo.poll(); scope != null; scope = todo.poll()) {
      for (Fiber<?> fiber : scope.setCancelled()) {
        if (fiber.cancelAlone()) {
          add(fiber.scope, todo);
        }
      }
    }
  }

  /** Adds one and those around it, of the same owner. */
  private static void add(@Nullable Scope innermost, Deque<Scope> todo) {
    for (Scope scope = innermost; scope != null; scope = scope.outer) {
      todo.add(scope);
    }
  }

  /** Returns the fibers to cancel. */
  private List<Fiber<?>> setCancelled() {
    lock.lock();
    try {
      cancelled = true;
      return List.copyOf(running);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Cancels what is left and returns when the last fiber has ended; neither an interrupt nor a
   * cancel ends that wait.
   *
   * @throws CompletionException if there was no {@link #join} and a fiber has failed
   * @throws IllegalStateException if there was no {@code join} after a {@link #go}, if scopes that
   *     were opened after this one were still open (they are closed now), or if the caller did not
   *     open it
   */
  @Override
  public void close() {
    checkOwner("close");
    if (state == State.CLOSED) {
      return;
    }
    boolean forgotten = closeInner();
    boolean wasCancelled = isCancelled();
    if (state != State.JOINED) {
      cancel();
    }
    try {
      awaitEnd(false);
    } catch (InterruptedException e) {
      throw new AssertionError("this wait cannot be interrupted", e);
    }
    state = State.CLOSED;
    setInnermost(outer);
    if (deadline != null) {
      deadline.cancel();
    }
    if (forgotten) {
      throw refusal("close", "scopes opened after it were still open; close them first");
    }
    if (anyToJoin) {
      throwIfFailed();
      if (!wasCancelled) {
        throw refusal("close", "its fibers were cancelled, for nobody called join()");
      }
    }
  }

  /** Closes the scopes that the owner has opened after this one; returns whether there were any. */
  private boolean closeInner() {
    boolean any = false;
    for (Scope inner = innermost(); inner != null && inner != this; inner = innermost()) {
      any = true;
      inner.cancel();
      try {
        inner.close();
      } catch (RuntimeException e) {
        // that it was not closed in its time is the mistake to report
      }
    }
    return any;
  }

  @Override
  public String toString() {
    return "scope of " + (ownerFiber != null ? ownerFiber : owner);
  }

  // ---- the end of fibers ----

  /** What waits for the end of a fiber on behalf of its scope. */
  record Member(Scope scope, Fiber<?> fiber) implements Runnable {
    /** Called by the fiber when its body has ended. */
    @Override
    public void run() {
      scope.ended(fiber);
    }

    /** Called by the fiber as the last it does, after the callbacks of its future. */
    void leave() {
      scope.left(fiber);
    }
  }

  private void ended(Fiber<?> fiber) {
    boolean enough;
    lock.lock();
    try {
      enough = askJoiner(() -> joiner.onComplete(fiber)) && !cancelled;
      cancelled |= enough; // in the same step: a deadline that passes now comes too late
    } finally {
      lock.unlock();
    }
    if (enough) {
      cancel();
    }
  }

  private void left(Fiber<?> fiber) {
    boolean last;
    lock.lock();
    try {
      running.remove(fiber);
      last = running.isEmpty();
    } finally {
      lock.unlock();
    }
    if (last) {
      LockSupport.unpark(owner);
    }
  }

  /** Asks whether to cancel the rest; a joiner that fails wants that. Under the lock. */
  private boolean askJoiner(Callable<Boolean> question) {
    try {
      return question.call();
    } catch (Throwable e) {
      brokenJoiner = brokenJoiner == null ? e : brokenJoiner;
      return true;
    }
  }

  private void expire() {
    lock.lock();
    try {
      deadlinePassed = !cancelled; // else all was decided before
      expired = deadlinePassed && !running.isEmpty();
    } finally {
      lock.unlock();
    }
    cancel();
  }

  private void awaitEnd(boolean interruptibly) throws InterruptedException {
    boolean interrupted = false;
    while (!hasEnded()) {
      if (interruptibly) {
        Fiber.throwIfInterrupted(ownerFiber);
      }
      Slices.park(this);
      if (!interruptibly) {
        interrupted |= Thread.interrupted();
      }
    }
    if (interrupted) {
      owner.interrupt();
    }
  }

  private boolean hasEnded() {
    lock.lock();
    try {
      return running.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  private boolean isCancelled() {
    lock.lock();
    try {
      return cancelled;
    } finally {
      lock.unlock();
    }
  }

  // ---- misuse ----

  private void checkUsable(String verb) {
    checkOwner(verb);
    if (state == State.CLOSED) {
      throw refusal(verb, "it is closed");
    }
    if (innermost() != this) {
      throw refusal(verb, "a scope opened after it is still open; close that one first");
    }
  }

  private void checkOwner(String verb) {
    if (Thread.currentThread() != owner) {
      Object me = Fiber.current().<Object>map(f -> f).orElse(Thread.currentThread());
      throw refusal(verb, "only the one who opened it may, not " + me);
    }
  }

  private IllegalStateException refusal(String verb, String why) {
    return new IllegalStateException("cannot " + verb + " " + this + ": " + why);
  }

  private @Nullable Scope innermost() {
    return ownerFiber != null ? ownerFiber.scope : OF_PLAIN_THREADS.get();
  }

  private void setInnermost(@Nullable Scope scope) {
    if (ownerFiber != null) {
      ownerFiber.scope = scope;
    } else if (scope != null) {
      OF_PLAIN_THREADS.set(scope);
    } else {
      OF_PLAIN_THREADS.remove();
    }
  }
}
