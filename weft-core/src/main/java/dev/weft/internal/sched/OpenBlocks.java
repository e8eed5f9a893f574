package dev.weft.internal.sched;

import dev.weft.Weft;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that one fiber, or one other thread, is in: the scopes that it has opened, its
 * deadlines ({@link Weft#withTimeout}) and its shields ({@link Weft#shielded}).
 *
 * <p>A cancel of the fiber and a deadline that has passed act on the thread from outside: they
 * interrupt it, fail its waits and cancel its scopes. A shield holds that back from its body. The
 * depth of a deadline or scope is the number of shields that the thread was in when the deadline
 * started or the scope was opened; the depth of a cancel is 0. Invariants:
 *
 * <pre>
 *   a cancel, or a deadline of depth d, is in force       ⇔  shields ≤ d
 *   a scope of depth s is shielded from what has depth d  ⇔  s &gt; d and shields &gt; d
 * </pre>
 *
 * <p>No interrupt of a cancel or a deadline reaches the body of a shield, and none is lost. The
 * canceller marks the fiber or the deadline, then reads {@link #shields}, then interrupts or does
 * not, then announces that it has finished. The thread writes shields, then looks for marks, then
 * waits until each canceller that has left a mark has finished. So the canceller sees the shield or
 * the thread sees the mark, and after the wait the thread alone decides: it clears its interrupt
 * status when it enters the shield and sets it when it leaves.
 *
 * <p>A separate object, because most fibers never have such a block, and because a timer or a
 * canceller cannot reach a {@link ThreadLocal} of the thread.
 */
public final class OpenBlocks {
  private static final ThreadLocal<@Nullable OpenBlocks> OF_PLAIN_THREADS = new ThreadLocal<>();

  private final @Nullable FiberCore<?> fiber;

  // the innermost deadline; set by this thread; other threads get a hint only
  private @Nullable Deadline deadline;

  // the innermost scope; set by this thread, read by threads that cancel
  private volatile @Nullable ScopeCore scope;

  // how many shields the thread is in; set by this thread, read by threads that cancel
  private volatile int shields;

  private OpenBlocks(@Nullable FiberCore<?> fiber) {
    this.fiber = fiber;
  }

  /** Returns the blocks of the current thread, which is this fiber; null means a plain thread. */
  static OpenBlocks of(@Nullable FiberCore<?> self) {
    OpenBlocks known = self != null ? self.blocks : OF_PLAIN_THREADS.get();
    if (known != null) {
      return known;
    }
    OpenBlocks made = new OpenBlocks(self);
    if (self != null) {
      self.blocks = made;
    } else {
      OF_PLAIN_THREADS.set(made);
    }
    return made;
  }

  @Nullable ScopeCore scope() {
    return scope;
  }

  @Nullable Deadline deadline() {
    return deadline;
  }

  int shields() {
    return shields;
  }

  void setScope(@Nullable ScopeCore innermost) {
    scope = innermost;
    forgetIfNone();
  }

  void setDeadline(@Nullable Deadline innermost) {
    deadline = innermost;
    forgetIfNone();
  }

  /**
   * Removes the thread local of a plain thread: a pool thread would keep this class loader alive.
   */
  private void forgetIfNone() {
    if (fiber == null && scope == null && deadline == null && shields == 0) {
      OF_PLAIN_THREADS.remove();
    }
  }

  /** Returns whether a cancel of the fiber is held back. Asked by any thread. */
  boolean isShielded() {
    return shields > 0;
  }

  /** Returns whether a deadline that has passed is in force. Asked by this thread. */
  boolean isPastDeadline() {
    for (Deadline one = deadline; one != null; one = one.outer()) {
      if (one.hasPassed() && one.isInForce()) {
        return true;
      }
    }
    return false;
  }

  /** Runs a body in a shield: see {@link Weft#shielded}. */
  public static <T> T callShielded(@Nullable FiberCore<?> self, Callable<T> body) throws Exception {
    CoroutineBlocks coroutine = CoroutineBlocks.current();
    of(self).enterShields(1);
    countShields(coroutine, 1);
    boolean interrupted = self == null && Thread.interrupted();
    try {
      return body.call();
    } finally {
      countShields(coroutine, -1);
      of(self).leaveShields(1); // not the same object if a coroutine was suspended meanwhile
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void countShields(@Nullable CoroutineBlocks coroutine, int change) {
    if (coroutine != null) {
      coroutine.limits += change;
      coroutine.shields += change;
    }
  }

  /** Enters so many shields: no cancel and no deadline from outside is in force any more. */
  void enterShields(int count) {
    int before = shields;
    shields = before + count;
    boolean mayBeInterrupted = before == 0 && fiber != null && fiber.awaitCancelSent();
    for (Deadline one = deadline; one != null; one = one.outer()) {
      mayBeInterrupted |= one.depth() == before && one.awaitInterruptSent();
    }
    boolean interrupted = mayBeInterrupted && Thread.interrupted();
    for (Deadline one = deadline; one != null && !interrupted; one = one.outer()) {
      if (one.depth() == before && one.hasPassed()) {
        one.setInterruptedBefore(false); // the body has noticed the foreign interrupt, if any
      }
    }
  }

  /** Leaves so many shields: a cancel and deadlines that no other shield holds back take effect. */
  void leaveShields(int count) {
    int left = shields - count;
    // Read before shields changes: until then no cancel or deadline from outside interrupts.
    boolean foreign = Thread.currentThread().isInterrupted();
    shields = left;
    boolean cancelled = left == 0 && fiber != null && fiber.awaitCancelSent();
    boolean passed = false;
    for (Deadline one = deadline; one != null; one = one.outer()) {
      if (one.depth() == left && one.awaitInterruptSent()) {
        one.setInterruptedBefore(foreign || one.interruptedBefore());
        passed = true;
      }
    }
    if (cancelled || passed) {
      Thread.currentThread().interrupt();
    }
    if (cancelled) {
      ScopeTree.cancelAllOf(this);
    }
    for (Deadline one = deadline; passed && one != null; one = one.outer()) {
      if (one.depth() == left && one.hasPassed()) {
        ScopeTree.expireAll(ScopeTree.inside(one, this));
      }
    }
    forgetIfNone();
  }
}
