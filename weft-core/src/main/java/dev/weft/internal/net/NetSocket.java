package dev.weft.internal.net;

import dev.weft.internal.poller.Pollable;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.sched.EventWait;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A socket that never blocks, with a wait for each direction. A reader holds one lock of the
 * owner's ({@link Turns}), a writer another; close and the poller come at any time.
 *
 * <p>The first wait registers the socket with the poller of the waiter's worker, and the socket
 * stays there; later waiters may run on any worker. If that scheduler stops, the next wait
 * registers the socket with the poller of its own worker.
 */
public abstract class NetSocket extends Pollable {
  /** The result of a try that found the socket not ready: the caller waits and tries again. */
  public static final int UNAVAILABLE = -2;

  /** The number of operations without a wait after which the fiber yields. */
  private static final int TURN = 64;

  final Readiness readable = new Readiness(this, "something to read from");
  final Readiness writable = new Readiness(this, "room to write to");

  // set when nothing more will come: the other side has ended, or failed
  volatile boolean ended;

  // tries since the last wait; a lost update does no harm
  private int streak;

  /** Opens a socket for connecting to the address. */
  public static NetSocket openStream(SocketAddress address) throws IOException {
    WorldNetwork simulated = WorldNetwork.here();
    if (simulated != null) {
      return simulated.openStream(address);
    }
    return Poller.isEpoll() ? FdSocket.newStream(address) : NioSocket.newStream(address);
  }

  /** Opens a socket for listening at the address. */
  public static NetSocket openListener(SocketAddress address) throws IOException {
    WorldNetwork simulated = WorldNetwork.here();
    if (simulated != null) {
      return simulated.openListener(address);
    }
    return Poller.isEpoll() ? FdSocket.newListener(address) : NioSocket.newListener(address);
  }

  /** Opens a datagram socket for use at the address. */
  public static NetSocket openDatagram(SocketAddress address) throws IOException {
    WorldNetwork simulated = WorldNetwork.here();
    if (simulated != null) {
      return simulated.openDatagram(address);
    }
    return Poller.isEpoll() ? FdSocket.newDatagram(address) : NioSocket.newDatagram(address);
  }

  // ---- trying ----

  /** Reads; returns how much, -1 at the end, or UNAVAILABLE. */
  public abstract int read(byte[] bytes, int offset, int length) throws IOException;

  /** Reads into what remains of a buffer, which is not empty. */
  public abstract int read(ByteBuffer buffer) throws IOException;

  /** Writes; returns how much, or UNAVAILABLE. */
  public abstract int write(byte[] bytes, int offset, int length) throws IOException;

  /** Writes what remains of a buffer, which is not empty. */
  public abstract int write(ByteBuffer buffer) throws IOException;

  /** Receives a datagram; returns where it came from, or null if there is none. */
  public abstract @Nullable SocketAddress receive(ByteBuffer buffer) throws IOException;

  /** Sends a datagram; returns whether there was room. */
  public abstract boolean send(ByteBuffer buffer, SocketAddress target) throws IOException;

  /** Binds and, if it is a stream socket, listens. */
  public abstract void bind(SocketAddress address, int backlog) throws IOException;

  /** Accepts a connection; returns null if there is none. */
  public abstract @Nullable NetSocket accept() throws IOException;

  /** Begins to connect; returns false if it has to be waited for, to become writable. */
  public abstract boolean connect(SocketAddress address) throws IOException;

  /** Looks how a connection attempt has gone; returns false if it goes on. */
  public abstract boolean finishConnect(SocketAddress address) throws IOException;

  /** Tells the other side that nothing more will be written. */
  public abstract void shutdownOutput() throws IOException;

  /** Reads no more. */
  public abstract void shutdownInput() throws IOException;

  /** Sets an option. */
  public abstract <T> void option(SocketOption<T> option, T value) throws IOException;

  /** Returns the value of an option. */
  public abstract <T> T option(SocketOption<T> option) throws IOException;

  /** Returns where it is bound. */
  public abstract SocketAddress localAddress() throws IOException;

  /** Returns the other end. */
  public abstract SocketAddress remoteAddress() throws IOException;

  /** Closes it, once, and wakes all that wait for it. */
  public abstract void close();

  /** Returns whether it is closed. */
  public abstract boolean isClosed();

  // ---- waiting ----

  /**
   * Waits until a direction may be tried again.
   *
   * @param limit for how long, or null
   * @param doing what cannot be done otherwise, for messages
   */
  public final void await(int direction, @Nullable Duration limit, String doing)
      throws IOException {
    streak = 0;
    Readiness readiness = direction == Poller.READ ? readable : writable;
    if (readiness.isReady()) {
      return;
    }
    boolean came;
    readiness.expect(Thread.currentThread());
    try {
      arm(direction);
      came = EventWait.await(readiness, limit);
    } catch (InterruptedException e) {
      throw interrupted(e, doing);
    } catch (UncheckedIOException e) { // no descriptor left to poll by
      throw NetErrors.explained(e.getCause(), doing + " " + this);
    } finally {
      readiness.clearWaiter();
    }
    if (isClosed()) {
      throw new AsynchronousCloseException();
    }
    if (!came) {
      throw new SocketTimeoutException(
          "cannot %s %s: nothing has happened within %s".formatted(doing, this, limit));
    }
  }

  /** Turns an interrupt into what I/O throws; the status is set again. */
  public final InterruptedIOException interrupted(InterruptedException e, String doing) {
    Thread.currentThread().interrupt();
    InterruptedIOException thrown =
        new InterruptedIOException(
            "cannot %s %s: %s"
                .formatted(doing, this, e.getMessage() == null ? "interrupted" : e.getMessage()));
    thrown.initCause(e);
    return thrown;
  }

  /** Yields after many operations in a row that did not have to wait, so that other fibers run. */
  public final void yieldAfterStreak() {
    if (++streak >= TURN) {
      streak = 0;
      Thread.yield();
    }
  }

  /** Ensures that {@link #onReady} is called when this direction becomes ready. */
  protected abstract void arm(int direction) throws IOException;

  @Override
  protected final void onReady(int directions, boolean isEnded) {
    if (isEnded) {
      ended = true;
    }
    if ((directions & Poller.READ) != 0) {
      readable.signal();
    }
    if ((directions & Poller.WRITE) != 0) {
      writable.signal();
    }
  }

  /** Records whether a direction may be tried; for sockets of a {@link WorldNetwork}. */
  protected final void setReady(int direction, boolean isReady) {
    (direction == Poller.READ ? readable : writable).set(isReady);
  }

  protected final void signalAll() {
    readable.signal();
    writable.signal();
  }

  /** Fails if it is closed. */
  public final void checkOpen() throws ClosedChannelException {
    if (isClosed()) {
      throw new ClosedChannelException();
    }
  }
}
