package dev.weft.internal.sched;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scope;
import dev.weft.internal.switching.Mounting;
import dev.weft.internal.switching.ScopedBindings;
import dev.weft.time.Timer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
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
 * A scope: the fibers that were started in it, and how its opener waits for their ends. The scopes
 * of all fibers form a tree, along which {@link ScopeTree} cancels.
 *
 * <p>The file is long because the states of a scope and all that changes them, under one lock, are
 * meant to be read in one place.
 */
public final class ScopeCore extends Scope {
  /*
   *           OPEN -> JOINED    // join has waited for all fibers; go() fails from now on
   *   OPEN, JOINED -> CLOSED    // close
   *
   * Invariants:
   *  - running holds the fibers that have begun and not ended, callbacks of their futures included;
   *    the joiner has been told of all others. join() and close() return only when it is empty.
   *  - A fiber inside the scope that calls go is itself in running, or below a fiber that is. So
   *    running does not become empty before the new fiber is in it, and the state stays OPEN. (But
   *    if a scheduler gives up on a fiber, that fiber leaves running early and the fibers below it
   *    live on: hence the check in add.)
   *  - Once cancelled is set, each fiber in running has been cancelled or is about to be, by the
   *    thread that set it or by the one that began the fiber; and a deadline comes too late.
   *  - The fields below the lock are written under it, and the joiner is called under it. The owner
   *    reads them without it as soon as endIfEmpty has found running empty, under the lock: from
   *    then on no thread writes them. The lock is held for a moment only and never while waiting;
   *    but a worker must not take it between slices.
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

  final Thread owner = Thread.currentThread();
  final @Nullable FiberCore<?> ownerFiber = FiberCore.currentOrNull();
  private final OpenBlocks blocks = OpenBlocks.of(ownerFiber);
  private final int depth = blocks.shields();
  final @Nullable Deadline around = blocks.deadline();
  final @Nullable ScopeCore outer = blocks.scope();
  private final Object bindings = ScopedBindings.current();
  private final Joiner<?> joiner;
  private final @Nullable Duration limit;
  private final @Nullable Timer deadline;

  final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  final Set<FiberCore<?>> running = new LinkedHashSet<>(); // a cancel goes to the oldest first

  @GuardedBy("lock")
  private boolean cancelled;

  // written under the lock, read without it as well: volatile, or by the owner at the end
  private volatile State state = State.OPEN;
  private @Nullable Limit passed; // the limit that cancelled it; null if something else did
  private boolean expired; // fibers were running when the limit passed, or were started later
  private @Nullable Throwable brokenJoiner;
  private @Nullable ScopeMisuse misuse; // the first misuse that a fiber of this scope failed with

  // the owner only
  private boolean anyToJoin;
  private boolean misuseTold;

  private ScopeCore(Joiner<?> joiner, @Nullable Duration limit) {
    this.joiner = joiner;
    this.limit = limit;
    this.deadline = limit == null ? null : startTimer(limit);
  }

  private Timer startTimer(Duration limit) {
    Duration delay = limit.isNegative() ? Duration.ZERO : limit;
    return SchedulerCore.here().timers().after(delay, () -> expire(Limit.OWN));
  }

  /** Opens a scope: see {@link Scope#open(Scope.Joiner, Duration)}. */
  public static ScopeCore open(Joiner<?> joiner, @Nullable Duration limit) {
    return enter(new ScopeCore(Objects.requireNonNull(joiner, "joiner"), limit));
  }

  private static ScopeCore enter(ScopeCore scope) {
    scope.blocks.setScope(scope);
    if (scope.ownerFiber != null && scope.ownerFiber.isCancelInForce()) {
      scope.cancel(); // the cancel of the fiber came before the fiber had this scope
    } else if (scope.blocks.isPastDeadline()) {
      scope.expire(Limit.AROUND);
    }
    return scope;
  }

  @Override
  public Fiber<Void> go(Body body) {
    return begin(SchedulerCore.DEFAULT_OPTIONS, SchedulerCore.notCallable(body));
  }

  @Override
  public <T> Fiber<T> go(Callable<T> body) {
    return begin(SchedulerCore.DEFAULT_OPTIONS, body);
  }

  @Override
  public Fiber<Void> go(String name, Body body) {
    return begin(FiberOptions.named(name), SchedulerCore.notCallable(body));
  }

  @Override
  public <T> Fiber<T> go(String name, Callable<T> body) {
    return begin(FiberOptions.named(name), body);
  }

  private <T> Fiber<T> begin(FiberOptions options, Object body) {
    Objects.requireNonNull(body, "body");
    checkMayGo();
    return SchedulerCore.here().begin(options, new Inheriting(body, bindings), this);
  }

  private void checkMayGo() {
    checkNotClosed("go in");
    if (Thread.currentThread() == owner) {
      if (ScopedBindings.current() != bindings) {
        throw refusal("go in", "other scoped values are bound than when it was opened");
      }
    } else if (!hasInside(FiberCore.currentOrNull())) {
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
  private boolean hasInside(@Nullable FiberCore<?> fiber) {
    for (ScopeCore at = fiber == null ? null : fiber.memberOf; at != null; at = at.parent()) {
      if (at == this) {
        return true;
      }
    }
    return false;
  }

  @Nullable ScopeCore parent() {
    return outer != null ? outer : ownerFiber == null ? null : ownerFiber.memberOf;
  }

  /** Takes in a fiber that has not begun; cancels the fiber if the scope is cancelled. */
  void add(FiberCore<?> fiber) {
    boolean tooLate;
    boolean enough = false;
    lock.lock();
    try {
      tooLate = cancelled || state != State.OPEN;
      if (state == State.OPEN) {
        fiber.memberOf = this;
        fiber.atEnd(new Member(this, fiber)); // the oldest waiter: see EndWaiter.tellAll
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
      fiber.cancel(); // cancel() of the scope has reached the other fibers only
    } else if (enough) {
      cancel();
    }
  }

  /** A body that is to run with the scoped values of the thread that opened its scope. */
  record Inheriting(Object body, Object bindings) {}

  @Override
  public void join() {
    checkOwner("join");
    checkNotClosed("join");
    if (blocks.scope() != this) {
      throw refusal("join", "a scope opened after it is still open; close that one first");
    }
    anyToJoin = false; // also if this wait is interrupted
    CurrentFiber.yieldIfSliceExpired();
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

  /** Throws the failure that the ends of the fibers add up to; a misuse is never left out. */
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
      // a consequence of the limit
    } catch (RuntimeException e) { // a failure, or a joiner of the user's that misses results
      late.addSuppressed(e);
    }
    return late;
  }

  @Override
  public void close() {
    checkOwner("close");
    if (state == State.CLOSED) {
      return;
    }
    ScopeCore innermost = Objects.requireNonNull(blocks.scope(), "an open scope is on the stack");
    if (innermost != this) {
      ScopeMisuse inner =
          refusal("close", "scopes opened after it were still open; close them first");
      ScopeTree.endAll(innermost, this, inner);
      throw inner;
    }
    boolean wasCancelled = isCancelled() || isOwnerToGiveUp();
    end();
    throwAfterEnd(wasCancelled);
  }

  /** Returns whether a cancel is on its way: it interrupts the owner, then cancels its scopes. */
  private boolean isOwnerToGiveUp() {
    return ownerFiber != null ? ownerFiber.mustGiveUp() : blocks.isPastDeadline();
  }

  /** Throws the failures that join() has not thrown: it was not called, or was interrupted. */
  void throwAfterEnd(boolean wasCancelled) {
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

  /** Cancels the fibers that join() has not waited for, waits for their end and pops the scope. */
  void end() {
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

  // ---- cancelling ----

  @Override
  public void cancel() {
    Deque<ScopeCore> todo = new ArrayDeque<>();
    todo.add(this);
    ScopeTree.cancelAll(todo);
  }

  boolean isShieldedFrom(int outside) {
    return depth > outside && blocks.shields() > outside;
  }

  /** Cancels it because a time limit around it has passed. */
  void expireAround() {
    expire(Limit.AROUND);
  }

  private void expire(Limit which) {
    lock.lock();
    try {
      if (!cancelled) { // an earlier cancel decides how join() fails
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
  List<FiberCore<?>> setCancelled() {
    lock.lock();
    try {
      cancelled = true;
      return List.copyOf(running);
    } finally {
      lock.unlock();
    }
  }

  // ---- the end of fibers ----

  /** The waiter for the end of a fiber that its scope adds. */
  record Member(ScopeCore scope, FiberCore<?> fiber) implements Runnable {
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

  private void ended(FiberCore<?> fiber) {
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

  private static @Nullable ScopeMisuse misuseIn(FiberCore<?> fiber) {
    try {
      Throwable failure = fiber.failure();
      return failure == null ? null : ScopeMisuse.in(failure);
    } catch (OutOfMemoryError e) { // most likely what the fiber failed with
      return null;
    }
  }

  private void left(FiberCore<?> fiber) {
    fiber.memberOf = null; // a program may keep the fiber for long, without its scope
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

  /** Asks the joiner whether to cancel the rest; yes if the joiner throws. */
  @GuardedBy("lock")
  private boolean askJoiner(Callable<Boolean> question) {
    try {
      return question.call();
    } catch (Throwable e) {
      brokenJoiner = brokenJoiner == null ? e : brokenJoiner;
      return true;
    }
  }

  /** Waits until no fiber is left and sets the next state. */
  private void awaitEnd(State next, boolean interruptibly) throws InterruptedException {
    boolean interrupted = false;
    while (!endIfEmpty(next)) {
      if (interruptibly) {
        FiberCore.throwIfInterrupted(ownerFiber);
      }
      Mounting.park(this);
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
    FiberCore<?> self = FiberCore.currentOrNull();
    return self != null ? self : Thread.currentThread();
  }

  @Override
  public String toString() {
    return "scope of " + opener();
  }
}
