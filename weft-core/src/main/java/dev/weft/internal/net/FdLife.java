package dev.weft.internal.net;

import dev.weft.internal.blocking.BlockingCall;
import dev.weft.internal.poller.EpollPoller;
import dev.weft.internal.poller.LinuxCalls;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.sched.EventWait;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * The life of a descriptor: its users, its registration with an edge-triggered poller, its options
 * and addresses, and its close. It is registered once; from then on a socket makes no system calls
 * but those that move bytes, and one that waits. {@link FdSocket} is the rest of the socket, a
 * subclass and not an object of its own, so that a read finds all in one object.
 *
 * <p>Invariant: the descriptor is closed once, when closed is set and no thread is between enter
 * and exit. So its number has no chance to be another socket's when it is used.
 */
abstract sealed class FdLife extends NetSocket permits FdSocket {
  private static final int READ_INTEREST =
      EpollPoller.EDGE | EpollPoller.IN | EpollPoller.PEER_ENDED | EpollPoller.URGENT;
  private static final int CLOSED = 1 << 31;
  private static final VarHandle USERS;

  static {
    try {
      USERS = MethodHandles.lookup().findVarHandle(FdLife.class, "users", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final int fd;
  final int family;

  // threads that use the descriptor, and CLOSED
  @SuppressWarnings("unused")
  private volatile int users;

  // set under this
  private volatile @Nullable EpollPoller poller;
  private volatile int interest;

  @Nullable SocketAddress remote;

  // whether closing it may take long
  private volatile boolean lingers;

  FdLife(int fd, int family) {
    this.fd = fd;
    this.family = family;
  }

  // ---- use ----

  /** Begins the use of the descriptor, to be followed by {@link #exit}; fails if it is closed. */
  final void enter() throws ClosedChannelException {
    int seen;
    do {
      seen = users;
      if ((seen & CLOSED) != 0) {
        throw new ClosedChannelException();
      }
    } while (!USERS.compareAndSet(this, seen, seen + 1));
  }

  /** Ends a use; the last one closes the descriptor if that was asked for meanwhile. */
  final void exit() {
    if ((int) USERS.getAndAdd(this, -1) == CLOSED + 1) {
      release();
    }
  }

  // ---- waiting ----

  @Override
  protected void arm(int direction) throws IOException {
    int needed = READ_INTEREST | (direction == Poller.WRITE ? EpollPoller.OUT : 0);
    EpollPoller at = poller;
    if (at == null || at.isClosed() || (interest & needed) != needed) {
      armSlow(needed);
    }
  }

  private synchronized void armSlow(int needed) throws IOException {
    enter();
    try {
      int wanted = interest | needed;
      int result = -LinuxCalls.EBADF;
      EpollPoller at = poller;
      while (result == -LinuxCalls.EBADF) { // the poller of a scheduler that has just stopped
        if (at == null || at.isClosed()) {
          at = (EpollPoller) EventWait.poller();
          result = at.add(this, fd, wanted);
        } else {
          result = at.modify(this, fd, wanted);
        }
      }
      if (result < 0) {
        throw NetErrors.of(-result, "wait for " + this);
      }
      poller = at;
      interest = wanted;
    } finally {
      exit();
    }
  }

  // ---- closing ----

  @Override
  public void close() {
    int before = (int) USERS.getAndBitwiseOr(this, CLOSED);
    if ((before & CLOSED) != 0) {
      return;
    }
    if (before == 0) {
      release();
    }
    signalAll();
  }

  private void release() {
    synchronized (this) {
      EpollPoller at = poller;
      if (at != null) {
        at.forget(this);
      }
    }
    if (lingers) {
      closeSlowly();
    } else {
      LinuxCalls.close(fd);
    }
  }

  /** Closes on a helper thread: the system call waits until all is sent. */
  private void closeSlowly() {
    try {
      BlockingCall.runUninterrupted(Executors.callable(() -> LinuxCalls.close(fd)));
    } catch (Exception e) {
      throw new AssertionError("a native call does not throw", e);
    }
  }

  @Override
  public boolean isClosed() {
    return (users & CLOSED) != 0;
  }

  // ---- options and names ----

  @Override
  public <T> void option(SocketOption<T> option, T value) throws IOException {
    SocketOptions.Row row = SocketOptions.of(option);
    int[] encoded = row.encode(value);
    setOption(row, encoded);
    if (row.format() == SocketOptions.Format.LINGER) {
      lingers = encoded[0] != 0 && encoded[1] > 0;
    }
  }

  @Override
  public <T> T option(SocketOption<T> option) throws IOException {
    SocketOptions.Row row = SocketOptions.of(option);
    return row.decode(option, getOption(row));
  }

  final void setOption(SocketOptions.Row option, int... value) throws IOException {
    enter();
    try {
      int result =
          LinuxCalls.setOption(fd, option.level(), option.number(), MemorySegment.ofArray(value));
      if (result < 0) {
        throw NetErrors.of(-result, "set " + option + " of " + this);
      }
    } finally {
      exit();
    }
  }

  final int[] getOption(SocketOptions.Row option) throws IOException {
    int[] value = new int[option.format().ints];
    enter();
    try {
      int result =
          LinuxCalls.getOption(fd, option.level(), option.number(), MemorySegment.ofArray(value));
      if (result < 0) {
        throw NetErrors.of(-result, "get " + option + " of " + this);
      }
      return value;
    } finally {
      exit();
    }
  }

  @Override
  public SocketAddress localAddress() throws IOException {
    byte[] address = new byte[NativeAddress.MAX_SIZE];
    int[] length = {address.length};
    enter();
    try {
      int result =
          LinuxCalls.localName(fd, MemorySegment.ofArray(address), MemorySegment.ofArray(length));
      if (result < 0) {
        throw NetErrors.of(-result, "tell the address of a socket");
      }
    } finally {
      exit();
    }
    return NativeAddress.decode(address, length[0]);
  }

  @Override
  public SocketAddress remoteAddress() throws IOException {
    checkOpen();
    SocketAddress known = remote;
    if (known == null) {
      throw new SocketException("not connected");
    }
    return known;
  }

  @Override
  public String toString() {
    SocketAddress known = remote;
    if (known != null) {
      return known.toString();
    }
    try {
      return localAddress().toString();
    } catch (IOException e) {
      return "a closed socket";
    }
  }
}
