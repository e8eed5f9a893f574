package dev.weft.internal.poller;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Where a worker without descriptors waits: by the JVM's parking at first; by a {@link Futex}, if
 * the system has it, once it has waited so often that linking it is worth the while.
 *
 * <pre>
 *   worker:  enter(); if (nothing has happened) await(nanos); leave();
 *   others:  make something happen; wake();
 * </pre>
 *
 * <p>Invariant: no wake-up is lost. A waker looks at futex and parked after it has made something
 * happen; the worker sets them, or resets the futex, before it looks whether something has.
 */
final class ParkingPlace {
  /** How many waits are often. */
  private static final int OFTEN = 1_000;

  // the worker, if it parks or is about to
  private volatile @Nullable Thread parked;

  // once it is there, the worker waits by it
  private volatile @Nullable Futex futex;

  // how many more waits until it is often; the worker's thread only
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

  /** Waits to be woken since it entered, for so many nanoseconds at most; may return early. */
  void await(long nanos) {
    Futex by = futex;
    if (by != null) {
      by.await(nanos);
    } else if (nanos == Long.MAX_VALUE) {
      LockSupport.park(this); // takes the system half a microsecond less to come back from
    } else {
      LockSupport.parkNanos(this, nanos);
    }
  }

  void leave() {
    if (parked != null) {
      parked = null; // not for nothing: it is a fence
    }
  }

  /** Returns whether the next wait is by a futex. */
  boolean hasFutex() {
    return futex != null;
  }

  /** Ends the wait of the one who has entered, if any, or is about to wait. */
  void wake() {
    Futex by = futex;
    if (by != null) {
      by.wake();
    }
    LockSupport.unpark(parked);
  }
}
