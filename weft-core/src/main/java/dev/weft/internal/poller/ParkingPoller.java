package dev.weft.internal.poller;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A poller without I/O: the thread parks. */
public final class ParkingPoller implements Poller {
  private volatile @Nullable Thread waiting;
  private volatile boolean woken;

  @Override
  public void await(long nanos) {
    waiting = Thread.currentThread();
    if (!woken) {
      LockSupport.parkNanos(this, nanos);
    }
    woken = false;
    waiting = null;
  }

  @Override
  public void wakeUp() {
    woken = true;
    LockSupport.unpark(waiting);
  }
}
