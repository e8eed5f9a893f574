package dev.weft.internal.wait;

import org.jspecify.annotations.Nullable;

/**
 * A place in a {@link WaitQueue}. A {@link Waiter} is its own first place; a waiter that waits in
 * several queues at once has more places.
 */
public class WaitNode {
  private final Waiter waiter;

  /**
   * The item of a hand-over: brought by the waiter, or given to it by the thread that chooses it.
   * Written by the waiter before it is queued, then under the queue's lock, then by the waiter
   * again.
   */
  public @Nullable Object item;

  /** A number of the owner's, such as permits wanted; as {@link #item}. */
  public int amount;

  // the queue it is in; written under that queue's lock, by the waiter's thread when it is added
  // and by any thread when it is removed. So the waiter's thread may rely on null without the lock
  @Nullable WaitQueue queue;

  // in the queue, or in a WakeList
  @Nullable WaitNode prev;
  @Nullable WaitNode next;

  /** Creates one more place of a waiter. */
  public WaitNode(Waiter waiter) {
    this.waiter = waiter;
  }

  /** Creates the first place of a waiter. */
  WaitNode() {
    this.waiter = (Waiter) this;
  }

  /** Returns the waiter of this place. */
  public final Waiter waiter() {
    return waiter;
  }

  /** Leaves the queue if it is still in it; called by the waiter, without the lock. */
  public final void leave() {
    WaitQueue joined = queue;
    if (joined != null) {
      joined.lock.lock();
      try {
        if (queue != null) {
          joined.unlink(this);
        }
      } finally {
        joined.lock.unlock();
      }
    }
  }

  /** Wakes the waiter, which has been chosen; better called without the lock. */
  public final void wake() {
    waiter.unpark();
  }
}
