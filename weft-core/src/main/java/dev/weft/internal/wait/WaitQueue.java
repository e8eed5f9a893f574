package dev.weft.internal.wait;

import dev.weft.internal.lock.SpinLock;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait for one thing, first come first served: the one wait queue under locks, channels,
 * select and scopes.
 *
 * <pre>
 *   var waiter = new Waiter(self);               lock.lock();
 *   lock.lock();                                 try {
 *   try {                                          …
 *     if (can be had) return …;                    next = queue.poll();
 *     queue.add(waiter);                         } finally { lock.unlock(); }
 *   } finally { lock.unlock(); }                 if (next != null) next.wake();
 *   waiter.await(queue);
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>The queue is touched only under the lock it was made with, which its owner shares with
 *       whatever the wait is for. So nobody joins after what it waits for has come.
 *   <li>Nobody is in it twice by the same place; {@code place.queue == this} while it is in.
 *   <li>Who is taken out by {@code poll} has been chosen ({@link Waiter}) and will return from its
 *       wait: the caller owes it what it waits for, and a {@link WaitNode#wake}.
 *   <li>One who gave up, or was chosen elsewhere, is skipped: it is dropped by whoever finds it
 *       first, or leaves by itself, in either case before its call returns.
 *   <li>Everything is done in a number of steps that does not depend on the queue's length.
 * </ul>
 */
public class WaitQueue {
  final SpinLock lock;
  private final Object owner;
  private final String verb;
  private @Nullable WaitNode first;
  private @Nullable WaitNode last;

  /**
   * Creates an empty queue.
   *
   * @param lock guards it
   * @param verb what those in it want, as in "receive from"; with the owner it is what dumps show
   */
  public WaitQueue(SpinLock lock, String verb, Object owner) {
    this.lock = lock;
    this.verb = verb;
    this.owner = owner;
  }

  /** Returns what the queue belongs to. */
  public final Object owner() {
    return owner;
  }

  /**
   * Returns the thread that holds what those in the queue wait for, or null if it has no holder or
   * that is not known. The answer may be old: for dumps and the deadlock detector.
   */
  public @Nullable Thread holder() {
    return null;
  }

  /** Joins at the end. */
  public final void add(WaitNode place) {
    assert lock.isTaken() && place.queue == null;
    WaitNode before = last;
    place.queue = this;
    place.prev = before;
    last = place;
    if (before == null) {
      first = place;
    } else {
      before.next = place;
    }
  }

  /** Returns the first who still waits, or null; it stays, and may give up at any moment. */
  public final @Nullable WaitNode first() {
    assert lock.isTaken();
    WaitNode place = first;
    while (place != null && !place.waiter().isWaiting()) {
      unlink(place);
      place = first;
    }
    return place;
  }

  /** Takes out one who is in the queue; returns false if it has just given up. */
  public final boolean choose(WaitNode place) {
    assert lock.isTaken() && place.queue == this;
    unlink(place);
    return place.waiter().choose(place);
  }

  /** Takes out the first, with the item it has brought; null if nobody waits. */
  public final @Nullable WaitNode poll() {
    assert lock.isTaken();
    for (WaitNode place = first; place != null; place = first) {
      unlink(place);
      if (place.waiter().choose(place)) {
        return place;
      }
    }
    return null;
  }

  /** Takes out the first and gives it an item; null if nobody waits. */
  public final @Nullable WaitNode poll(Object item) {
    assert lock.isTaken();
    for (WaitNode place = first; place != null; place = first) {
      unlink(place);
      place.item = item; // before it is chosen: then it may look at once
      if (place.waiter().choose(place)) {
        return place;
      }
    }
    return null;
  }

  /** Takes out one that its own thread has put there; returns false if it has been taken out. */
  public final boolean remove(WaitNode place) {
    assert lock.isTaken();
    if (place.queue != this) {
      return false;
    }
    unlink(place);
    return true;
  }

  /** Takes out all and gives each the item. */
  public final void pollAll(Object item, WakeList woken) {
    for (WaitNode place = poll(item); place != null; place = poll(item)) {
      woken.add(place);
    }
  }

  /** Takes out all. */
  public final void pollAll(WakeList woken) {
    for (WaitNode place = poll(); place != null; place = poll()) {
      woken.add(place);
    }
  }

  /** Returns whether nobody is in it; without the lock, whether that was so a moment ago. */
  public final boolean isEmpty() {
    return first == null;
  }

  /** Returns how many are in it, those about to leave included. Counts: for people. */
  public final int size() {
    assert lock.isTaken();
    int size = 0;
    for (WaitNode place = first; place != null; place = place.next) {
      size++;
    }
    return size;
  }

  final void unlink(WaitNode place) {
    WaitNode before = place.prev;
    WaitNode after = place.next;
    if (before == null) {
      first = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      last = before;
    } else {
      after.prev = before;
    }
    place.prev = null;
    place.next = null;
    place.queue = null;
  }

  /** Returns what those in it wait for. */
  @Override
  public final String toString() {
    return verb + " " + owner;
  }
}
