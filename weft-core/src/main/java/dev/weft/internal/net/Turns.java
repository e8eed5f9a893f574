package dev.weft.internal.net;

import dev.weft.sync.Mutex;
import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;

/** The turns at one direction of a socket: one thread uses it at a time, the others queue. */
public final class Turns {
  private Turns() {}

  /** Waits for the caller's turn; to be ended by {@code turn.unlock()}. */
  public static void await(Mutex turn, NetSocket socket, String doing) throws IOException {
    if (!turn.tryLock()) {
      try {
        turn.lockInterruptibly();
      } catch (InterruptedException e) {
        throw socket.interrupted(e, doing);
      }
      if (socket.isClosed()) {
        turn.unlock();
        throw new AsynchronousCloseException();
      }
    }
  }
}
