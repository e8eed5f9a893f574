package dev.weft.internal.switching;

import java.util.concurrent.locks.LockSupport;

/** Keeps a virtual thread on its carrier: what blocks then blocks the carrier. */
public final class Pinning {
  private Pinning() {}

  /**
   * Keeps the current thread, if it is virtual, on its carrier until {@link #end}. To be used
   * around monitors that a worker's own loop enters too: a fiber that waits for one without its
   * carrier would be next in line, and could only be run by the worker that stands in line behind
   * it.
   *
   * @return what to give to end
   */
  public static boolean begin() {
    boolean virtual = Thread.currentThread().isVirtual();
    if (virtual) {
      RawContinuation.pin();
    }
    return virtual;
  }

  /** Lets go of the carrier again. */
  public static void end(boolean begun) {
    if (begun) {
      RawContinuation.unpin();
    }
  }

  /**
   * Gives the core away for a moment without leaving the carrier. A permit that somebody gave the
   * thread in the meantime is kept, at the price of one that nobody gave.
   */
  public static void nap() {
    boolean pinned = begin();
    try {
      LockSupport.parkNanos(20_000);
    } finally {
      end(pinned);
      LockSupport.unpark(Thread.currentThread());
    }
  }
}
