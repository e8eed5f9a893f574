package dev.weft.internal.sched;

import org.jspecify.annotations.Nullable;

/**
 * Observes each time for which a thread that looks at a worker (for statistics, a dump, the
 * console) holds the worker's duty lock. That is the only way in which a look can make fibers wait,
 * so the longest of these times is the longest pause that looks cause. There is no observer as a
 * rule: a test or a benchmark sets one.
 */
public abstract class LookHolds {
  private static volatile @Nullable LookHolds observer;

  /** Called on the thread that looks, when it has got the lock. */
  protected abstract void began();

  /**
   * Called before it gives the lock back.
   *
   * @param fibers how many fibers it has handled under the lock
   */
  protected abstract void ended(int fibers);

  /** Sets the observer of all workers, or none. */
  public static void observe(@Nullable LookHolds of) {
    observer = of;
  }

  static @Nullable LookHolds begin() {
    LookHolds current = observer;
    if (current != null) {
      current.began();
    }
    return current;
  }

  static void end(@Nullable LookHolds observed, int fibers) {
    if (observed != null) {
      observed.ended(fibers);
    }
  }
}
