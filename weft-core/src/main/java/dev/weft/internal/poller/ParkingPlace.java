package dev.weft.internal.poller;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The place where a worker without descriptors waits: by LockSupport.park at first; by a {@link
 * Futex}, if the system has it, once the worker has waited so often that linking the calls pays.
 *
 * <pre>
 *   worker:         enter(); if (!condition) await(nanos); leave();
 *   other threads:  condition = true; wake();
 * </pre>
 *
 * <p>Invariant: no wake-up is lost. A waking thread sets the condition and then reads futex and
 * parked; the worker sets parked, or resets the futex, and then reads the condition.
 */
final class ParkingPlace {
  /** After how many waits the futex calls are linked. */
  private static final int OFTEN = 1_000;

  // the worker's thread, while it parks or is about to
  private volatile @Nullable Thread parked;

  // not null once the worker waits by it
  private volatile @Nullable Futex futex;

  // how many more waits until the futex calls are linked; the worker's thread only
  private int waitsLeft;

  ParkingPlace() {
    this(OFTEN);
  }

  ParkingPlace(int often) {
    this.waitsLeft = often;
  }

  /** Announces that the current thread is about to wait. */
  void enter() {
    Futex by = futex;
    if (by == null && --waitsLeft <= 0) {
      Futex.prepare();
      by = Futex.create();
      futex = by;
    }
    if (by != null) {
      by.reset();
    } else {
      parked = Thread.currentThread();
    }
  }

  /** Waits for a wake-up since enter(), for so many nanoseconds at most; may return early. */
  void await(long nanos) {
    Futex by = futex;
    if (by != null) {
      by.await(nanos);
    } else if (nanos == Long.MAX_VALUE) {
      LockSupport.park(this); // returns half a microsecond faster than a park with a limit
    } else {
      LockSupport.parkNanos(this, nanos);
    }
  }

  void leave() {
    if (parked != null) {
      parked = null; // Check first: a volatile store costs a fence.
    }
  }

  /** Returns whether the next wait uses a futex. */
  boolean hasFutex() {
    return futex != null;
  }

  /** Ends the wait of a worker that has entered, also if it is only about to wait. */
  void wake() {
    Futex by = futex;
    if (by != null) {
      by.wake();
    }
    LockSupport.unpark(parked);
  }
}
