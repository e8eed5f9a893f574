package dev.weft.internal.net;

import dev.weft.internal.poller.ReadyEvent;
import dev.weft.internal.sched.FiberCore;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Whether one direction of a socket may be tried, and the thread that waits until it may.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>It is ready unless a try since the last signal has found nothing more to do. A try clears
 *       it first: what arrives during the try sets it again.
 *   <li>No wake-up is lost: a waiter sets waiter, then looks at ready; a signal sets ready, then
 *       looks at waiter. At most one thread waits; others queue for the socket's lock.
 * </ul>
 */
final class Readiness implements ReadyEvent {
  private static final VarHandle READY;
  private static final VarHandle WAITER;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      READY = lookup.findVarHandle(Readiness.class, "ready", boolean.class);
      WAITER = lookup.findVarHandle(Readiness.class, "waiter", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

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
    if (ready != isReady) { // check first: a volatile store costs a fence
      ready = isReady;
    }
  }

  /** Clears it before a try; to be followed by a fence, which entering the socket is. */
  void clear() {
    READY.setRelease(this, false);
  }

  void expect(Thread newWaiter) {
    waiter = newWaiter;
  }

  /** Clears the waiter; a late reader causes a harmless unpark. */
  void clearWaiter() {
    WAITER.setRelease(this, null);
  }

  void signal() {
    ready = true;
    Thread waiting = waiter;
    if (waiting != null) {
      FiberCore.unpark(waiting);
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
