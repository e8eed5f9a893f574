package dev.weft;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * One who waits for the end of a fiber, a thread to unpark or a callback to run, in a list with the
 * newest first. Who ends the fiber exchanges the list for {@link #CLOSED} and so has it for
 * himself; until then lists are never changed but replaced. (One who still reads a list that was
 * taken away may see it half turned round: it ends all the same, and what he makes of it is
 * refused.)
 */
final class EndWaiter {
  /** The list of a fiber that is done. */
  static final EndWaiter CLOSED = new EndWaiter("nobody", null);

  private final Object waiter;
  private @Nullable EndWaiter next;

  EndWaiter(Object waiter, @Nullable EndWaiter next) {
    this.waiter = waiter;
    this.next = next;
  }

  /**
   * Wakes all in the list, oldest first, then runs the callbacks, which may take their time; a
   * scope, which is the oldest, is told when they are done.
   */
  static void wake(EndWaiter list) {
    EndWaiter oldest = reversed(list);
    try {
      wakeAndRun(oldest);
    } finally {
      if (oldest != null && oldest.waiter instanceof Scope.Member member) {
        member.leave();
      }
    }
  }

  private static void wakeAndRun(@Nullable EndWaiter oldest) {
    for (EndWaiter w = oldest; w != null; w = w.next) {
      if (w.waiter instanceof Thread waiting) {
        Fiber.unpark(waiting);
      }
    }
    for (EndWaiter w = oldest; w != null; w = w.next) {
      if (w.waiter instanceof Runnable callback && !(w.waiter instanceof Thread)) {
        callback.run();
      }
    }
  }

  private static @Nullable EndWaiter reversed(@Nullable EndWaiter list) {
    EndWaiter result = null;
    for (EndWaiter w = list; w != null; ) {
      EndWaiter next = w.next;
      w.next = result;
      result = w;
      w = next;
    }
    return result;
  }

  /** Returns a list without one who gave up. */
  static @Nullable EndWaiter without(Object gone, @Nullable EndWaiter list) {
    Deque<Object> newer = new ArrayDeque<>();
    EndWaiter rest = list;
    while (rest != null && rest.waiter != gone) {
      newer.push(rest.waiter);
      rest = rest.next;
    }
    EndWaiter result = rest == null ? null : rest.next;
    for (Object waiter : newer) {
      result = new EndWaiter(waiter, result);
    }
    return result;
  }
}
