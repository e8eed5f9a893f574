package dev.weft.net;

import dev.weft.internal.net.NetSocket;
import java.io.InterruptedIOException;
import java.util.concurrent.locks.ReentrantLock;

/** One direction of a socket: who uses it, the others stand in line. */
final class SocketLock {
  private final ReentrantLock lock = new ReentrantLock();

  void enter(NetSocket socket, String doing) throws InterruptedIOException {
    if (!lock.tryLock()) {
      try {
        lock.lockInterruptibly();
      } catch (InterruptedException e) {
        throw socket.interrupted(e, doing);
      }
    }
  }

  void exit() {
    lock.unlock();
  }
}
