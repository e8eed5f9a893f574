package dev.weft.internal.sched;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.internal.lock.SpinLock;
import org.jspecify.annotations.Nullable;

/**
 * The waiters for the end of one fiber, if it has had more than one at a time. To add and to remove
 * a waiter takes constant time: a hundred thousand callers of join may time out at once.
 *
 * <p>Invariants, under the lock, which this list is:
 *
 * <ul>
 *   <li>The waiters are linked from the oldest to the newest.
 *   <li>Nothing changes any more once the list is closed: then it belongs to the fiber, which has
 *       ended.
 * </ul>
 */
final class EndWaiters extends SpinLock {
  @GuardedBy("this")
  private @Nullable EndWaiter oldest;

  @GuardedBy("this")
  private @Nullable EndWaiter newest;

  @GuardedBy("this")
  private boolean closed;

  /** Adds a waiter; returns false if the fiber has ended. */
  boolean add(EndWaiter added) {
    lock();
    try {
      if (closed) {
        return false;
      }
      link(added);
      return true;
    } finally {
      unlock();
    }
  }

  /** Adds a waiter. */
  @GuardedBy("this")
  void link(EndWaiter added) {
    added.older = newest;
    if (newest == null) {
      oldest = added;
    } else {
      newest.newer = added;
    }
    newest = added;
  }

  /** Removes a waiter that is in the list; returns false if the fiber has ended. */
  boolean remove(EndWaiter gone) {
    lock();
    try {
      if (closed) {
        return false;
      }
      EndWaiter older = gone.older;
      EndWaiter newer = gone.newer;
      if (older == null) {
        oldest = newer;
      } else {
        older.newer = newer;
      }
      if (newer == null) {
        newest = older;
      } else {
        newer.older = older;
      }
      return true;
    } finally {
      unlock();
    }
  }

  /** Closes the list; returns the oldest waiter, from which the others can be reached. */
  @Nullable EndWaiter close() {
    lock();
    try {
      closed = true;
      return oldest;
    } finally {
      unlock();
    }
  }
}
