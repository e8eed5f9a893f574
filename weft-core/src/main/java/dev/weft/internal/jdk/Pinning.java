package dev.weft.internal.jdk;

import java.util.concurrent.locks.LockSupport;

/** Keeps a virtual thread on its carrier: what blocks then blocks the carrier. */
public final class Pinning {
  private Pinning() {}

  /**
   * Gives the core away for a moment without leaving the carrier. A permit that somebody gave the
   * thread in the meantime is kept, at the price of one that nobody gave.
   */
  public static void nap() {
    Thread me = Thread.currentThread();
    boolean virtual = me.isVirtual();
    if (virtual) {
      RawContinuation.pin();
    }
    try {
      LockSupport.parkNanos(20_000);
    } finally {
      if (virtual) {
        RawContinuation.unpin();
      }
      LockSupport.unpark(me);
    }
  }
}
