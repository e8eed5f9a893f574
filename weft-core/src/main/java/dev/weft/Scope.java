package dev.weft;

import dev.weft.internal.jdk.ScopedBindings;
import dev.weft.internal.jdk.Slices;
import dev.weft.time.Timer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A block of code with fibers of its own: none of them outlives it.
 *
 * {@snippet class="dev.weft.ScopeSnippetsTest" region="all"}
 *
 * <p>The fiber or thread that opens a scope starts fibers with {@link #go} and then waits with
 * {@link #join}. What counts as success, and when the rest is cancelled, is for the {@link Joiner}
 * to say; without one all must succeed, and the first failure cancels the others. {@link #close}
 * cancels what {@code join} has not waited for and returns when the last fiber has ended, whatever
 * happened before.
 *
 * <p>Every fiber inside the scope may start more in it, and {@code join} waits for those too.
 * Inside are the fibers that were started in it, and those of scopes that were opened inside it, by
 * its opener or by these fibers. Fibers that were started in another way, with {@link Weft#go} for
 * instance, are not inside: they may outlive the scope.
 *
 * {@snippet class="dev.weft.ScopeSnippetsTest" region="crawl"}
 *
 * <p>A fiber runs on the scheduler of the fiber that started it, or on the shared one if that was a
 * plain thread. It sees the {@link ScopedValue}s that were bound when the scope was opened, also if
 * the fiber that started it has bound others. If the opener is a fiber and is cancelled, so is the
 * scope, and with it all scopes that its fibers have opened; and so it is when a {@linkplain
 * Weft#withTimeout time limit} is over inside which the scope was opened.
 *
 * <p>{@code join} and {@code close} are for the opener alone; {@link #cancel} is for everybody. A
 * mistake in the use of a scope is an {@link IllegalStateException} where it is made. If a fiber of
 * the scope fails with it, it also comes out of {@code join}, whatever the joiner makes of that
 * failure. A scope that a fiber leaves open when it ends is closed, and the fiber fails with an
 * {@code IllegalStateException}; a scope that another thread leaves open stays open.
 */
public final class Scope implements AutoCloseable {
  /*
   *           OPEN -> JOINED    // join has waited for all; no more go
   *   OPEN, JOINED -> CLOSED    // close
   *
   * Invariants:
   *  - running holds the fibers that have begun and not ended, callbacks of their futures included;
   *    the joiner has been told of all others. join() and close() return only when it is empty.
   *  - A fiber inside the scope that calls go is itself in running, or below a fiber that is. So
   *    running does not become empty before the new fiber is in it, and the state stays OPEN. (But
   *    if a scheduler gives up on a fiber it leaves running early, and what is below it lives on:
   *    hence the check in add.)
   *  - Once cancelled is set, each fiber in running has been cancelled or is about to be, by the
   *    thread that set it or by the one that began the fiber; and a deadline comes too late.
   *  - The fields below the lock, and all calls of the joiner, are under it. It is held for a moment
   *    only and never while waiting; but a worker must not take it between slices.
   *  - Scopes of one owner form a stack, from its innermost along outer. A scope is inside the one
   *    around it on that stack, the outermost one inside the scope that its owner is a member of.
   */
  private enum State {
    OPEN,
    JOINED,
    CLOSED
  }

  /** A time limit of a scope: its own, or that of a withTimeout in which it was opened. */
  private enum Limit {
    OWN,
    AROUND
  }

  /**
   * Decides what comes of the fibers of one scope: how the end of each counts, when the others are
   * not needed any more, and what {@link Scope#join} throws. After {@code join} it has the result.
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
     * they were submitted. No failure comes out of {@link Scope#join}, unless it is a misuse of a
     * scope: look at each fiber.
     */
    static Joiner<List<Fiber<?>>> awaitAll() {
      return new Joiners.AwaitAll();
    }
  }

  private final Thread owner = Thread.currentThread();
  private final @Nullable Fiber<?> ownerFiber = Fiber.currentOrNull();
  private final OpenBlocks blocks = OpenBlocks.of(ownerFiber);
  private final int depth = blocks.shields();
  private final @Nullable Deadline around = blocks.deadline();
  private final @Nullable Scope outer = blocks.scope();
  private final Object bindings = ScopedBindings.current();
  private final Joiner<?> joiner;
  private final @Nullable Duration limit;
  private final @Nullable Timer deadline;

  private final ReentrantLock lock = new ReentrantLock();
  private final Set<Fiber<?>> running = new HashSet<>();
  private volatile State state = State.OPEN; // written under the lock
  private boolean cancelled;
  private @Nullable Limit passed; // before anything else has cancelled it
  private boolean expired; // it had work left then, or was given more
  private @Nullable Throwable brokenJoiner;
  private @Nullable ScopeMisuse misuse; // the first that a fiber of this scope failed with

  // the owner only
  private boolean anyToJoin;
  private boolean misuseTold;

  private Scope(Joiner<?> joiner, @Nullable Duration limit) {
    this.joiner = joiner;
    this.limit = limit;
    this.deadline = limit == null ? null : startTimer(limit);
  }

  private Timer startTimer(Duration limit) {
    Duration delay = limit.isNegative() ? Duration.ZERO : limit;
    return Weft.here().timers().after(delay, () -> expire(Limit.OWN));
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
    scope.blocks.setScope(scope);
    if (scope.ownerFiber != null && scope.ownerFiber.isCancelInForce()) {
      scope.cancel(); // it came before the fiber knew of this scope
    } else if (scope.blocks.isPastDeadline()) {
      scope.expire(Limit.AROUND);
    }
    return scope;
  }

  /**
   * Starts a fiber of this scope: the body runs later. In a scope that is cancelled it never runs.
   *
   * @throws IllegalStateException if the caller is neither the opener nor a fiber inside this
   *     scope, if the scope has been joined or closed, or if the caller is the opener and has bound
   *     other scoped values than when it opened the scope
   */
  public Fiber<Void> go(Body body) {
    return begin(FiberOptions.DEFAULT, Scheduler.notCallable(body));
  }

  /** Starts a fiber with a result, as {@link #go(Body)} does. */
  public <T> Fiber<T> go(Callable<T> body) {
    return begin(FiberOptions.DEFAULT, body);
  }

  /**
   * Starts a fiber with a name, as {@link #go(Body)} does.
   *
   * @param name what dumps and messages call it
   */
  public Fiber<Void> go(String name, Body body) {
    return begin(FiberOptions.named(name), Scheduler.notCallable(body));
  }

  /**
   * Starts a fiber with a name and a result, as {@link #go(Body)} does.
   *
   * @param name what dumps and messages call it
   */
  public <T> Fiber<T> go(String name, Callable<T> body) {
    return begin(FiberOptions.named(name), body);
  }

  private <T> Fiber<T> begin(FiberOptions options, Object body) {
    Objects.requireNonNull(body, "body");
    checkMayGo();
    return Weft.here().begin(options, new Inheriting(body, bindings), this);
  }

  private void checkMayGo() {
    checkNotClosed("go in");
    if (Thread.currentThread() == owner) {
      if (ScopedBindings.current() != bindings) {
        throw refusal("go in", "other scoped values are bound than when it was opened");
      }
    } else if (!hasInside(Fiber.currentOrNull())) {
      throw refusal(
          "go in",
          "%s is not inside it; only %s and fibers that were started in it, or in scopes inside it, may"
              .formatted(caller(), opener()));
    }
    if (state == State.JOINED) {
      throw refusal("go in", "it has been joined; open a new scope");
    }
  }

  /** Returns whether the fiber was started in this scope or in one inside it. */
  private boolean hasInside(@Nullable Fiber<?> fiber) {
    for (Scope at = fiber == null ? null : fiber.memberOf; at != null; at = at.parent()) {
      if (at == this) {
        return true;
      }
    }
    return false;
  }

  private @Nullable Scope parent() {
    return outer != null ? outer : ownerFiber == null ? null : ownerFiber.memberOf;
  }

  /** Takes in a fiber that has not begun; if the scope is cancelled it never will. */
  void add(Fiber<?> fiber) {
    boolean tooLate;
    boolean enough = false;
    lock.lock();
    try {
      tooLate = cancelled || state != State.OPEN;
      if (state == State.OPEN) {
        fiber.memberOf = this;
        fiber.atEnd(new Member(this, fiber)); // before anybody else can: see EndWaiter.tellAll
        running.add(fiber);
        expired |= passed != null;
        enough = askJoiner(() -> joiner.onGo(fiber));
      }
    } finally {
      lock.unlock();
    }
    if (Thread.currentThread() == owner) {
      anyToJoin = true;
    }
    if (tooLate) {
      fiber.cancel(); // the others have been
    } else if (enough) {
      cancel();
    }
  }

  /** A body that is to run with the scoped values of the thread that opened its scope. */
  record Inheriting(Object body, Object bindings) {}

  /**
   * Waits until all fibers have ended, also those that are started meanwhile, then lets the joiner
   * say how it went.
   *
   * @throws CompletionException if it did not go well; the cause is the first failure, those of
   *     others are suppressed. If the deadline has passed, the cause is a {@link TimeoutException}
   * @throws CancellationException if the opener is cancelled or interrupted, with its interrupt
   *     status set, if the time of a {@link Weft#withTimeout} around the scope was over before its
   *     fibers had ended, or if the result of a fiber is missing that was cancelled
   * @throws IllegalStateException if the caller did not open this scope, if it is closed, or if one
   *     opened after it is still open
   */
  public void join() {
    checkOwner("join");
    checkNotClosed("join");
    if (blocks.scope() != this) {
      throw refusal("join", "a scope opened after it is still open; close that one first");
    }
    anyToJoin = false; // also if this wait is interrupted
    Fiber.giveWay();
    try {
      awaitEnd(State.JOINED, true);
    } catch (InterruptedException e) {
      owner.interrupt();
      CancellationException interrupted =
          new CancellationException("interrupted while joining " + this);
      interrupted.initCause(e);
      throw interrupted;
    }
    throwIfFailed();
  }

  /** Throws what the ends of the fibers come to; a misuse too, if that does not show it. */
  private void throwIfFailed() {
    misuseTold = true;
    try {
      throwResult();
    } catch (RuntimeException | Error e) {
      if (misuse != null && ScopeMisuse.in(e) == null) {
        e.addSuppressed(misuse);
      }
      throw e;
    }
    if (misuse != null) {
      throw misuseOfFiber();
    }
  }

  private CompletionException misuseOfFiber() {
    return new CompletionException("a fiber of " + this + " failed: " + misuse, misuse);
  }

  private void throwResult() {
    if (brokenJoiner != null) {
      throw new CompletionException("the joiner of " + this + " failed", brokenJoiner);
    }
    if (expired) {
      throw expiry();
    }
    joiner.result();
  }

  private RuntimeException expiry() {
    RuntimeException late =
        passed == Limit.OWN
            ? new CompletionException(new TimeoutException(this + " was not done within " + limit))
            : new CancellationException(this + " was cancelled by the time limit around it");
    try {
      joiner.result();
    } catch (CancellationException e) {
      // the limit's own doing
    } catch (RuntimeException e) { // a failure, or a joiner of the user's that misses results
      late.addSuppressed(e);
    }
    return late;
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
    Scope innermost = Objects.requireNonNull(blocks.scope(), "an open scope is on the stack");
    if (innermost != this) {
      ScopeMisuse inner =
          refusal("close", "scopes opened after it were still open; close them first");
      endAll(innermost, this, inner);
      throw inner;
    }
    boolean wasCancelled = isCancelled() || isOwnerToGiveUp();
    end();
    throwAfterEnd(wasCancelled);
  }

  /** The canceller interrupts the owner first and cancels its scopes then. */
  private boolean isOwnerToGiveUp() {
    return ownerFiber != null ? ownerFiber.mustGiveUp() : blocks.isPastDeadline();
  }

  /** Throws what nobody has been told: there was no join, or it was interrupted. */
  private void throwAfterEnd(boolean wasCancelled) {
    if (anyToJoin) {
      throwIfFailed();
      if (!wasCancelled) {
        throw new ScopeMisuse(
            "cannot close " + this + ": its fibers were cancelled, because there was no join()",
            false);
      }
    } else if (misuse != null && !misuseTold) {
      throw misuseOfFiber();
    }
  }

  /**
   * Cancels what join() has not waited for, waits for its end and takes the scope off the stack.
   */
  private void end() {
    if (state != State.JOINED) {
      cancel();
    }
    try {
      awaitEnd(State.CLOSED, false);
    } catch (InterruptedException e) {
      throw new AssertionError("this wait cannot be interrupted", e);
    }
    blocks.setScope(outer);
    if (deadline != null) {
      deadline.cancel();
    }
  }

  /**
   * Ends the scopes of a stack down to the last; what comes of them is suppressed in the misuse.
   */
  private static void endAll(Scope innermost, @Nullable Scope last, ScopeMisuse misuse) {
    Deque<Scope> all = new ArrayDeque<>();
    for (Scope scope = innermost; scope != null; scope = scope == last ? null : scope.outer) {
      all.add(scope);
    }
    cancelAll(new ArrayDeque<>(all)); // first: fibers of one may wait for those of another
    for (Scope scope : all) {
      scope.end();
      try {
        scope.throwAfterEnd(true);
      } catch (RuntimeException | Error e) {
        misuse.addSuppressed(e);
      }
    }
  }

  // ---- scopes left open ----

  /**
   * Ends the scopes that the fiber, the current one, has left open. Returns how the fiber is to
   * end: a scope left open fails it, or is suppressed in the failure that the body ended with.
   */
  static Object closeLeftOpen(Fiber<?> self, Object result) {
    try {
      ScopeMisuse leftOpen = endLeftOpen(self, self);
      if (result instanceof Outcome.Failure(Throwable thrown)) {
        thrown.addSuppressed(leftOpen);
        return result;
      }
      return Outcome.failed(leftOpen);
    } catch (Throwable e) { // no memory: the fiber must end all the same
      return Outcome.failed(e);
    }
  }

  /**
   * Ends the scopes that the fiber, the current one, has left open; returns how that is told.
   *
   * @param left what has ended, for people: the fiber or a part of its work
   */
  static ScopeMisuse endLeftOpen(Fiber<?> self, Object left) {
    ScopeMisuse misuse = leftOpenBy(left, "cancelled and awaited");
    endAll(Objects.requireNonNull(OpenBlocks.of(self).scope(), "an open scope"), null, misuse);
    return misuse;
  }

  /**
   * Cancels the scopes that a guest has left open; called by a worker, when the guest's thread has
   * terminated and cannot wait for them any more. A fiber does it; by its failure it is reported.
   */
  static void cancelLeftOpen(Fiber<?> guest) {
    OpenBlocks blocks = Objects.requireNonNull(guest.blocks, "the blocks of an open scope");
    Body cancel =
        () -> {
          cancelAllOf(blocks);
          throw leftOpenBy(guest, "cancelled");
        };
    try {
      guest.scheduler().begin(FiberOptions.named("left open"), cancel);
    } catch (RejectedExecutionException e) {
      Log.warn(leftOpenBy(guest, "given up").getMessage());
    }
  }

  private static ScopeMisuse leftOpenBy(Object left, String fate) {
    return new ScopeMisuse(
        left
            + " ended and left a scope open; its fibers were "
            + fate
            + ". Open scopes with try (Scope scope = Scope.open())",
        true);
  }

  // ---- cancelling ----

  /** Cancels all fibers of this scope, and all scopes that they have opened; waits for none. */
  public void cancel() {
    Deque<Scope> todo = new ArrayDeque<>();
    todo.add(this);
    cancelAll(todo);
  }

  /** Called when a fiber is cancelled: so are the scopes that it has opened, but for shielded. */
  static void cancelAllOf(OpenBlocks blocks) {
    Deque<Scope> todo = new ArrayDeque<>();
    addAll(blocks, todo);
    cancelAll(todo);
  }

  /** Goes down the tree with a list: it may be deeper than the stack. */
  private static void cancelAll(Deque<Scope> todo) {
    for (Scope scope = todo.poll(); scope != null; scope = todo.poll()) {
      for (Fiber<?> fiber : scope.setCancelled()) {
        OpenBlocks below = fiber.cancelAlone() ? fiber.blocks : null;
        if (below != null) {
          addAll(below, todo);
        }
      }
    }
  }

  /** Adds the scopes of one owner that its cancel reaches. */
  private static void addAll(OpenBlocks blocks, Deque<Scope> todo) {
    for (Scope scope = blocks.scope(); scope != null; scope = scope.outer) {
      if (!scope.isShieldedFrom(0)) {
        todo.add(scope);
      }
    }
  }

  /** Returns the scopes of one owner that a deadline of it reaches; takes no lock. */
  static List<Scope> inside(Deadline deadline, OpenBlocks blocks) {
    List<Scope> reached = new ArrayList<>();
    for (Scope scope = blocks.scope(); scope != null; scope = scope.outer) {
      if (scope.around != null
          && scope.around.isWithin(deadline)
          && !scope.isShieldedFrom(deadline.depth())) {
        reached.add(scope);
      }
    }
    return reached;
  }

  /** Cancels scopes, because a time limit around them is over. */
  static void expireAll(List<Scope> scopes) {
    for (Scope scope : scopes) {
      scope.expire(Limit.AROUND);
    }
  }

  private boolean isShieldedFrom(int outside) {
    return depth > outside && blocks.shields() > outside;
  }

  private void expire(Limit which) {
    lock.lock();
    try {
      if (!cancelled) { // else all was decided before
        passed = which;
        expired = !running.isEmpty();
        cancelled = true;
      }
    } finally {
      lock.unlock();
    }
    cancel();
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
    ScopeMisuse failedWith = misuseIn(fiber);
    boolean enough;
    lock.lock();
    try {
      misuse = misuse == null ? failedWith : misuse;
      enough = askJoiner(() -> joiner.onComplete(fiber)) && !cancelled;
      cancelled |= enough; // in the same step: a deadline that passes now comes too late
    } finally {
      lock.unlock();
    }
    if (enough) {
      cancel();
    }
  }

  private static @Nullable ScopeMisuse misuseIn(Fiber<?> fiber) {
    try {
      Throwable failure = fiber.failure();
      return failure == null ? null : ScopeMisuse.in(failure);
    } catch (OutOfMemoryError e) { // most likely what the fiber failed with
      return null;
    }
  }

  private void left(Fiber<?> fiber) {
    fiber.memberOf = null; // a fiber may be kept for long, its scope need not be
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

  /** Waits until no fiber is left; the scope is in the next state then. */
  private void awaitEnd(State next, boolean interruptibly) throws InterruptedException {
    boolean interrupted = false;
    while (!endIfEmpty(next)) {
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

  private boolean endIfEmpty(State next) {
    lock.lock();
    try {
      if (running.isEmpty()) {
        state = next;
      }
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

  private void checkOwner(String verb) {
    if (Thread.currentThread() != owner) {
      throw refusal(verb, "only %s may, which opened it, not %s".formatted(opener(), caller()));
    }
  }

  private void checkNotClosed(String verb) {
    if (state == State.CLOSED) {
      throw refusal(verb, "it is closed");
    }
  }

  private ScopeMisuse refusal(String verb, String why) {
    return new ScopeMisuse("cannot " + verb + " " + this + ": " + why, true);
  }

  private Object opener() {
    return ownerFiber != null ? ownerFiber : owner;
  }

  private static Object caller() {
    Fiber<?> self = Fiber.currentOrNull();
    return self != null ? self : Thread.currentThread();
  }

  @Override
  public String toString() {
    return "scope of " + opener();
  }
}
