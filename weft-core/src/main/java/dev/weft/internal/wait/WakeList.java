package dev.weft.internal.wait;

import org.jspecify.annotations.Nullable;

/**
 * The places that were chosen under a lock and are woken after its release, in order. It uses the
 * links of the places, which are free once they have left their queue.
 */
public final class WakeList {
  private @Nullable WaitNode first;
  private @Nullable WaitNode last;

  public void add(WaitNode place) {
    if (last == null) {
      first = place;
    } else {
      last.next = place;
    }
    last = place;
  }

  /** Wakes all; to be called without the lock. */
  public void wake() {
    WaitNode place = first;
    first = null;
    last = null;
    while (place != null) {
      WaitNode after = place.next;
      place.next = null;
      place.wake();
      place = after;
    }
  }
}
