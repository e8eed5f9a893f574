package dev.weft.internal.net;

import dev.weft.internal.IoWaits;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Whether one direction of a socket may be tried, and who waits until it may.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>It is ready unless a try since the last signal has found nothing more to do. Who tries
 *       clears it first: what arrives during the try sets it again.
 *   <li>No wake-up is lost: a waiter puts its name down, then looks; who signals sets ready, then
 *       looks for the name. At most one waits; others stand in line for the socket's lock.
 * </ul>
 */
final class Readiness implements IoWaits.Event {
  private final NetSocket socket;
  private final String what;

  // true at first: a try costs less than asking
  private volatile boolean ready = true;
  private volatile @Nullable Thread waiter;

  Readiness(NetSocket socket, String what) {
    this.socket = socket;
    this.what = what;
  }

  boolean isReady() {
    return ready;
  }

  void set(boolean isReady) {
    ready = isReady;
  }

  void expect(@Nullable Thread newWaiter) {
    waiter = newWaiter;
  }

  void signal() {
    ready = true;
    Thread waiting = waiter;
    if (waiting != null) {
      LockSupport.unpark(waiting);
    }
  }

  @Override
  public boolean hasCome() {
    return ready || socket.isClosed();
  }

  @Override
  public String toString() {
    return what + " " + socket;
  }
}
