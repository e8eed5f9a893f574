package dev.weft.internal.net;

import dev.weft.internal.poller.CallMemory;
import dev.weft.internal.poller.LinuxCalls;
import dev.weft.internal.sched.WorkerMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.UnsupportedAddressTypeException;
import org.jspecify.annotations.Nullable;

/**
 * A socket on a descriptor of its own: reading, writing, connecting. Its descriptor, with its
 * registration, its options and its end, is in {@link FdLife}.
 *
 * <p>Invariant: a direction that is not ready has an edge to come, once it is registered. That
 * holds since reading less than asked for, or EAGAIN, means that all was taken; but a short read
 * proves it for TCP alone, and not if the other side has ended or sent urgent data, which the edge
 * says (ended). Writing asks twice: the second EAGAIN comes after ready was cleared.
 */
final class FdSocket extends FdLife {
  private static final int STREAM = 1;
  private static final int DATAGRAM = 2;
  private static final int NON_BLOCKING = 0x800;
  private static final int CLOSE_ON_EXEC = 0x80000;
  private static final int SHUT_READ = 0;
  private static final int SHUT_WRITE = 1;

  /** The most bytes of one system call: the garbage collector waits until the call returns. */
  private static final int MOST = 256 * 1024;

  private final boolean shortMeansDrained;

  // the error number of a read that failed for good, else 0: the kernel reports an error once, and
  // reports the end of the stream from then on
  private int readError;

  private volatile boolean inputShut;

  // whether the last read got more than is copied; the reader only
  private boolean receivesMuch;

  private FdSocket(int fd, int family, int type) {
    super(fd, family);
    this.shortMeansDrained = type == STREAM && family != NativeAddress.UNIX;
  }

  static FdSocket newStream(SocketAddress address) throws IOException {
    return open(NativeAddress.familyOf(address), STREAM, "connect to " + address);
  }

  static FdSocket newListener(SocketAddress address) throws IOException {
    return openAt(address, STREAM, "listen at " + address);
  }

  static FdSocket newDatagram(SocketAddress address) throws IOException {
    if (!(address instanceof InetSocketAddress)) {
      throw new UnsupportedAddressTypeException();
    }
    return openAt(address, DATAGRAM, "receive at " + address);
  }

  /** The any address serves IPv6 and IPv4, as it does with the JDK's sockets. */
  private static FdSocket openAt(SocketAddress address, int type, String doing) throws IOException {
    if (address instanceof InetSocketAddress inet
        && inet.getAddress() != null
        && inet.getAddress().isAnyLocalAddress()) {
      try {
        FdSocket both = open(NativeAddress.INET6, type, doing);
        both.setOption(SocketOptions.IPV6_ONLY, 0);
        return both;
      } catch (SocketException e) {
        return open(NativeAddress.INET, type, doing); // a machine without IPv6
      }
    }
    return open(NativeAddress.familyOf(address), type, doing);
  }

  private static FdSocket open(int family, int type, String doing) throws IOException {
    int fd = LinuxCalls.socket(family, type | NON_BLOCKING | CLOSE_ON_EXEC, 0);
    if (fd < 0) {
      throw NetErrors.of(-fd, doing);
    }
    return new FdSocket(fd, family, type);
  }

  // ---- reading and writing ----

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    CallMemory memory = WorkerMemory.here();
    int few = memory.size();
    if (length <= few) {
      return read(memory, bytes, offset, length);
    }
    if (few > 0 && !receivesMuch) {
      int count = read(memory, bytes, offset, few);
      receivesMuch = count == few;
      return count;
    }
    int count = read(MemorySegment.ofArray(bytes).asSlice(offset, Math.min(length, MOST)));
    receivesMuch &= count < 0 || count > few;
    return count;
  }

  private int read(CallMemory memory, byte[] bytes, int offset, int length) throws IOException {
    if (!beginRead()) {
      return UNAVAILABLE;
    }
    long count;
    assert WorkerMemory.beginNoPark(memory);
    try {
      do {
        count = endIsKnown() ? knownEnd() : memory.receive(fd, bytes, offset, length);
      } while (count == -LinuxCalls.EINTR);
    } finally {
      assert WorkerMemory.endNoPark();
      exit();
    }
    return endRead(count, length);
  }

  @Override
  public int read(ByteBuffer buffer) throws IOException {
    int count;
    if (buffer.hasArray()) {
      int offset = buffer.arrayOffset() + buffer.position();
      count = read(buffer.array(), offset, buffer.remaining());
    } else {
      MemorySegment target = MemorySegment.ofBuffer(buffer);
      count = read(target.asSlice(0, Math.min(target.byteSize(), MOST)));
    }
    if (count > 0) {
      buffer.position(buffer.position() + count);
    }
    return count;
  }

  private int read(MemorySegment target) throws IOException {
    CallMemory memory = WorkerMemory.here();
    if (!beginRead()) {
      return UNAVAILABLE;
    }
    long count;
    assert WorkerMemory.beginNoPark(memory);
    try {
      do {
        count = endIsKnown() ? knownEnd() : LinuxCalls.receive(fd, target, memory.errno());
      } while (count == -LinuxCalls.EINTR);
    } catch (Throwable e) { // the target is inaccessible memory: the data stays in the socket
      readable.set(true);
      throw e;
    } finally {
      assert WorkerMemory.endNoPark();
      exit();
    }
    return endRead(count, target.byteSize());
  }

  /** Begins a try to read, to be followed by {@link #exit}; returns false if there is nothing. */
  private boolean beginRead() throws IOException {
    if (!readable.isReady()) {
      checkOpen();
      return false;
    }
    readable.clear();
    enter();
    return true;
  }

  /** Maps the result of the system call to the result of a read, and updates the readiness. */
  private int endRead(long count, long asked) throws IOException {
    if (count == -LinuxCalls.EAGAIN) {
      return UNAVAILABLE;
    }
    if (count <= 0 || count == asked || ended || !shortMeansDrained) {
      readable.set(true);
    }
    if (count < 0) {
      int error = (int) -count;
      if (!NetErrors.isExhaustion(error)) {
        readError = error;
      }
      throw NetErrors.of(error, "read from " + this);
    }
    return count == 0 ? -1 : (int) count;
  }

  /** Returns whether the system need not be asked, or may not. */
  private boolean endIsKnown() {
    return inputShut || readError != 0;
  }

  private long knownEnd() {
    return inputShut ? 0 : -readError;
  }

  @Override
  public int write(byte[] bytes, int offset, int length) throws IOException {
    CallMemory memory = WorkerMemory.here();
    if (length > memory.size()) {
      return write(MemorySegment.ofArray(bytes).asSlice(offset, Math.min(length, MOST)));
    }
    if (!beginWrite()) {
      return UNAVAILABLE;
    }
    assert WorkerMemory.beginNoPark(memory);
    try {
      long count;
      do {
        count = memory.send(fd, bytes, offset, length);
      } while (isToBeTriedAgain(count));
      return endWrite(count);
    } finally {
      assert WorkerMemory.endNoPark();
      exit();
    }
  }

  @Override
  public int write(ByteBuffer buffer) throws IOException {
    int count;
    if (buffer.hasArray()) {
      int offset = buffer.arrayOffset() + buffer.position();
      count = write(buffer.array(), offset, buffer.remaining());
    } else {
      MemorySegment source = MemorySegment.ofBuffer(buffer);
      count = write(source.asSlice(0, Math.min(source.byteSize(), MOST)));
    }
    if (count > 0) {
      buffer.position(buffer.position() + count);
    }
    return count;
  }

  private int write(MemorySegment source) throws IOException {
    CallMemory memory = WorkerMemory.here();
    if (!beginWrite()) {
      return UNAVAILABLE;
    }
    assert WorkerMemory.beginNoPark(memory);
    try {
      long count;
      do {
        count = LinuxCalls.send(fd, source, memory.errno());
      } while (isToBeTriedAgain(count));
      return endWrite(count);
    } finally {
      assert WorkerMemory.endNoPark();
      exit();
    }
  }

  /** Begins a try to write, to be followed by {@link #exit}; returns false if there is no room. */
  private boolean beginWrite() throws IOException {
    if (!writable.isReady()) {
      checkOpen();
      return false;
    }
    enter();
    return true;
  }

  /** Returns whether to write again; true the first time that the kernel's buffer is full. */
  private boolean isToBeTriedAgain(long count) {
    if (count == -LinuxCalls.EAGAIN && writable.isReady()) {
      writable.set(false);
      return true;
    }
    return count == -LinuxCalls.EINTR;
  }

  private int endWrite(long count) throws IOException {
    if (count == -LinuxCalls.EAGAIN) {
      return UNAVAILABLE;
    }
    if (count < 0) {
      throw NetErrors.of((int) -count, "write to " + this);
    }
    writable.set(true);
    return (int) count;
  }

  @Override
  public @Nullable SocketAddress receive(ByteBuffer buffer) throws IOException {
    byte[] address = new byte[NativeAddress.MAX_SIZE];
    int[] length = {address.length};
    if (!beginRead()) {
      return null;
    }
    long count;
    try {
      do {
        count =
            LinuxCalls.receiveFrom(
                fd,
                MemorySegment.ofBuffer(buffer),
                MemorySegment.ofArray(address),
                MemorySegment.ofArray(length),
                WorkerMemory.here().errno());
      } while (count == -LinuxCalls.EINTR);
    } catch (Throwable e) { // as in read
      readable.set(true);
      throw e;
    } finally {
      exit();
    }
    if (count == -LinuxCalls.EAGAIN) {
      return null;
    }
    readable.set(true);
    if (count < 0) {
      throw NetErrors.of((int) -count, "receive at " + this);
    }
    buffer.position(buffer.position() + (int) count);
    return NativeAddress.decode(address, length[0]);
  }

  @Override
  public boolean send(ByteBuffer buffer, SocketAddress target) throws IOException {
    MemorySegment address = NativeAddress.encode(target, family);
    if (!beginWrite()) {
      return false;
    }
    try {
      long count;
      do {
        count =
            LinuxCalls.sendTo(
                fd, MemorySegment.ofBuffer(buffer), address, WorkerMemory.here().errno());
      } while (isToBeTriedAgain(count));
      if (count == -LinuxCalls.EAGAIN) {
        return false;
      }
      if (count < 0) {
        throw NetErrors.of((int) -count, "send to " + target);
      }
      writable.set(true);
      buffer.position(buffer.position() + (int) count);
      return true;
    } finally {
      exit();
    }
  }

  // ---- connections ----

  @Override
  public void bind(SocketAddress address, int backlog) throws IOException {
    if (address instanceof UnixDomainSocketAddress unix && unix.getPath().toString().isEmpty()) {
      throw new BindException("cannot bind to a Unix address without a path");
    }
    MemorySegment encoded = NativeAddress.encode(address, family);
    enter();
    try {
      int result = LinuxCalls.bind(fd, encoded);
      if (result == 0 && backlog > 0) {
        result = LinuxCalls.listen(fd, backlog);
      }
      if (result < 0) {
        throw NetErrors.ofBind(-result, "bind to " + address);
      }
    } finally {
      exit();
    }
  }

  @Override
  public @Nullable NetSocket accept() throws IOException {
    byte[] address = new byte[NativeAddress.MAX_SIZE];
    int[] length = {address.length};
    if (!beginRead()) {
      return null;
    }
    int accepted;
    try {
      do {
        accepted =
            LinuxCalls.accept(
                fd,
                MemorySegment.ofArray(address),
                MemorySegment.ofArray(length),
                NON_BLOCKING | CLOSE_ON_EXEC);
      } while (accepted == -LinuxCalls.EINTR
          || accepted == -LinuxCalls.ECONNABORTED // gone while it stood in line
          || accepted == -LinuxCalls.EPROTO);
    } finally {
      exit();
    }
    if (accepted == -LinuxCalls.EAGAIN) {
      return null;
    }
    readable.set(true);
    if (accepted < 0) {
      String doing = "accept at " + this;
      throw NetErrors.isExhaustion(-accepted)
          ? new NetErrors.Exhausted("cannot " + doing + ": " + LinuxCalls.describe(-accepted))
          : NetErrors.of(-accepted, doing);
    }
    FdSocket connection = new FdSocket(accepted, family, STREAM);
    connection.remote = NativeAddress.decode(address, length[0]);
    return connection;
  }

  @Override
  public boolean connect(SocketAddress address) throws IOException {
    MemorySegment encoded = NativeAddress.encode(address, family);
    int result;
    enter();
    try {
      writable.set(false);
      result = LinuxCalls.connect(fd, encoded);
    } finally {
      exit();
    }
    if (result == 0) {
      writable.set(true);
      remote = address;
      return true;
    }
    if (result == -LinuxCalls.EINPROGRESS || result == -LinuxCalls.EINTR) {
      return false;
    }
    if (result == -LinuxCalls.EAGAIN) {
      throw new NetErrors.Exhausted("cannot connect to " + address + ": too many stand in line");
    }
    throw NetErrors.of(-result, "connect to " + address);
  }

  @Override
  public boolean finishConnect(SocketAddress address) throws IOException {
    int error = getOption(SocketOptions.ERROR)[0];
    if (error != 0) {
      throw NetErrors.of(error, "connect to " + address);
    }
    byte[] peer = new byte[NativeAddress.MAX_SIZE];
    int result;
    enter();
    try {
      result =
          LinuxCalls.peerName(
              fd, MemorySegment.ofArray(peer), MemorySegment.ofArray(new int[] {peer.length}));
    } finally {
      exit();
    }
    if (result == -LinuxCalls.ENOTCONN) {
      writable.set(false);
      error = getOption(SocketOptions.ERROR)[0];
      if (error != 0) {
        throw NetErrors.of(error, "connect to " + address);
      }
      return false;
    }
    remote = address;
    return true;
  }

  @Override
  public void shutdownOutput() throws IOException {
    shutdown(SHUT_WRITE);
  }

  @Override
  public void shutdownInput() throws IOException {
    shutdown(SHUT_READ);
    inputShut = true; // reads of the descriptor would still return data
    ended = true;
    readable.signal();
  }

  private void shutdown(int how) throws IOException {
    enter();
    try {
      int result = LinuxCalls.shutdown(fd, how);
      if (result < 0 && result != -LinuxCalls.ENOTCONN) {
        throw NetErrors.of(-result, "end " + this);
      }
    } finally {
      exit();
    }
  }
}
