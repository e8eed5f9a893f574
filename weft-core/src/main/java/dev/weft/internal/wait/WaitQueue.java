package dev.weft.internal.wait;

import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.Awaited;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The waiters of one thing, first in, first out: the one wait queue under locks, channels, select
 * and conditions (as trio's {@code ParkingLot}).
 *
 * <pre>
 *   the waiting thread                           the thread that hands over
 *
 *   var waiter = new Waiter(self);               lock.lock();
 *   lock.lock();                                 try {
 *   try {                                          …
 *     if (available) return …;                     next = queue.poll();
 *     queue.add(waiter);                         } finally { lock.unlock(); }
 *   } finally { lock.unlock(); }                 if (next != null) next.wake();
 *   waiter.await(queue);
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>The queue is touched only under the lock it was made with, which also guards the state of
 *       its owner. So no waiter is added after the thing that it waits for has come.
 *   <li>A place is in at most one queue, once; {@code place.queue == this} while it is in this one.
 *   <li>A waiter that {@code poll} returns has been chosen ({@link Waiter}) and will return from
 *       its wait: the caller has to give it what it waits for, and to {@link WaitNode#wake} it.
 *   <li>A waiter that gave up, or was chosen at another place, is skipped: the first thread that
 *       finds it removes it, or the waiter does, in either case before its call returns.
 *   <li>Every operation but size takes a time that does not depend on the queue's length.
 * </ul>
 */
public class WaitQueue implements Awaited {
  final SpinLock lock;
  private final Object owner;
  private final String verb;
  private @Nullable WaitNode first;
  private @Nullable WaitNode last;

  /**
   * Creates an empty queue.
   *
   * @param lock guards it
   * @param verb what the waiters want, as in "receive from"; dumps show it with the owner
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
   * Returns the thread that holds what the waiters wait for, or null if no thread does or that is
   * not known. The answer may be outdated: for dumps and the deadlock detector.
   */
  public @Nullable Thread holder() {
    return null;
  }

  /** Does nothing: a waiter that is gone is passed over when its turn comes. */
  @Override
  public void waiterIsGone() {}

  /**
   * Calls the visitor with the id of each thread that has to act before a waiter can go on: each of
   * them, not any. None if that is not known. For the deadlock detector, on any thread.
   */
  public void forEachHolder(LongConsumer visitor) {
    Thread one = holder();
    if (one != null) {
      visitor.accept(one.threadId());
    }
  }

  /** Returns whether a look at the holders may find any; cheap. */
  public boolean mayHaveHolders() {
    return holder() != null;
  }

  /** Adds a place at the end. */
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

  /** Adds a place at the front. */
  public final void addFirst(WaitNode place) {
    assert lock.isTaken() && place.queue == null;
    WaitNode after = first;
    place.queue = this;
    place.next = after;
    first = place;
    if (after == null) {
      last = place;
    } else {
      after.prev = place;
    }
  }

  /** Returns the first place that still waits, or null; it stays, and may give up at any moment. */
  public final @Nullable WaitNode first() {
    assert lock.isTaken();
    WaitNode place = first;
    while (place != null && !place.waiter().isWaiting()) {
      unlink(place);
      place = first;
    }
    return place;
  }

  /** Removes and chooses a place of this queue; returns false if its waiter has just given up. */
  public final boolean choose(WaitNode place) {
    assert lock.isTaken() && place.queue == this;
    unlink(place);
    return place.waiter().choose(place);
  }

  /** Removes and chooses the first place, with the item it has brought; null if there is none. */
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

  /** Removes and chooses the first place and gives it an item; null if there is none. */
  public final @Nullable WaitNode poll(Object item) {
    assert lock.isTaken();
    for (WaitNode place = first; place != null; place = first) {
      unlink(place);
      place.item = item; // before the choice: a chosen waiter may read it at once
      if (place.waiter().choose(place)) {
        return place;
      }
    }
    return null;
  }

  /** Removes a place of the calling thread; returns false if it is not in this queue any more. */
  public final boolean remove(WaitNode place) {
    assert lock.isTaken();
    if (place.queue != this) {
      return false;
    }
    unlink(place);
    return true;
  }

  /** Removes and chooses all places and gives each the item. */
  public final void pollAll(Object item, WakeList woken) {
    for (WaitNode place = poll(item); place != null; place = poll(item)) {
      woken.add(place);
    }
  }

  /** Removes and chooses all places. */
  public final void pollAll(WakeList woken) {
    for (WaitNode place = poll(); place != null; place = poll()) {
      woken.add(place);
    }
  }

  /** Returns whether it has no place; without the lock, whether that was so a moment ago. */
  public final boolean isEmpty() {
    return first == null;
  }

  /** Counts its places, those about to leave included: slow, for messages. */
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

  /** Returns what the waiters wait for. */
  @Override
  public final String toString() {
    return verb + " " + owner;
  }
}
