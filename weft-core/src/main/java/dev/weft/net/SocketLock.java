package dev.weft.net;

import dev.weft.internal.net.NetSocket;
import java.io.InterruptedIOException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One direction of a socket: who uses it, the others stand in line. It is the lock, and does not
 * have one, since each object of a socket that a request touches is a miss of the cache.
 */
final class SocketLock extends ReentrantLock {
  private static final long serialVersionUID = 1L;

  void enter(NetSocket socket, String doing) throws InterruptedIOException {
    if (!tryLock()) {
      try {
        lockInterruptibly();
      } catch (InterruptedException e) {
        throw socket.interrupted(e, doing);
      }
    }
  }
}
