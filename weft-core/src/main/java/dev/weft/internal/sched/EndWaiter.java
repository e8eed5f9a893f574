package dev.weft.internal.sched;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One wait for the end of a fiber: of a thread, which is unparked, or of a callback, which the
 * fiber runs. A fiber with one waiter, the usual case, refers to it directly; with more to an
 * {@link EndWaiters}.
 */
final class EndWaiter {
  /** Closes the list of waiters: a fiber that is done refers to it. */
  static final EndWaiter CLOSED = new EndWaiter("closed");

  private final Object waiter;

  // in an EndWaiters, under its lock
  @Nullable EndWaiter older;
  @Nullable EndWaiter newer;

  /** Creates a wait of a {@link Thread}, an {@link Onlooker} or a callback. */
  EndWaiter(Object waiter) {
    this.waiter = waiter;
  }

  /** Loads the classes that telling the waiters needs: when a fiber ends there may be no memory. */
  static void load() {
    List<Class<?>> needed = List.of(Onlooker.class, ScopeCore.Member.class, EndWaiters.class);
    assert !needed.isEmpty();
  }

  /** A thread that waits for the end only: it does not count as an observer of a failure. */
  record Onlooker(Thread thread) {}

  /** Returns whether this waiter, once told, counts as an observer of a failure. */
  boolean observes() {
    return !(waiter instanceof Onlooker);
  }

  /** Wakes the thread that waits, if it is one. */
  void wake() {
    if (waiter instanceof Thread waiting) {
      FiberCore.unpark(waiting);
    } else if (waiter instanceof Onlooker onlooker) {
      FiberCore.unpark(onlooker.thread);
    }
  }

  /** Runs the callback, if it is one. */
  void call() {
    if (waiter instanceof Runnable callback && !(waiter instanceof Thread)) {
      callback.run();
    }
  }

  /** Tells a scope that all callbacks have ended. */
  void leaveScope() {
    if (waiter instanceof ScopeCore.Member member) {
      member.leave();
    }
  }

  /**
   * Tells this waiter and all newer ones: first it wakes the threads, then it runs the callbacks,
   * which may take their time, then it tells the scope, which is the oldest waiter. Needs no
   * memory. Returns whether one of them observes.
   */
  boolean tellAll() {
    boolean observed = false;
    for (EndWaiter w = this; w != null; w = w.newer) {
      observed |= w.observes();
      w.wake();
    }
    try {
      for (EndWaiter w = this; w != null; w = w.newer) {
        w.call();
      }
    } finally {
      leaveScope();
    }
    return observed;
  }
}
