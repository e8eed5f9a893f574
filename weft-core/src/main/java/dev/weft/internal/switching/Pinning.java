package dev.weft.internal.switching;

import java.util.concurrent.locks.LockSupport;

/** Pins the current virtual thread: its waits then hold the carrier. */
public final class Pinning {
  private Pinning() {}

  /**
   * Pins the current thread, if it is virtual, until {@link #end}. To be used around monitors that
   * a worker's own loop enters too: an unmounted fiber would be next in line for the monitor, and
   * the worker that waits behind it would be the only one to run it.
   *
   * @return the argument for end
   */
  public static boolean begin() {
    boolean virtual = Thread.currentThread().isVirtual();
    if (virtual) {
      RawContinuation.pin();
    }
    return virtual;
  }

  /** Undoes {@link #begin}. */
  public static void end(boolean begun) {
    if (begun) {
      RawContinuation.unpin();
    }
  }

  /**
   * Parks the current thread for 20 µs while pinned. Leaves a permit behind, because the park may
   * have consumed one: the next park may return spuriously.
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
