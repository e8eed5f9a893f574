package dev.weft.net;

import dev.weft.internal.net.Connecting;
import dev.weft.internal.net.Limits;
import dev.weft.internal.net.NetSocket;
import dev.weft.internal.net.StreamInput;
import dev.weft.internal.net.StreamOutput;
import dev.weft.internal.net.Turns;
import dev.weft.internal.poller.Poller;
import dev.weft.sync.Mutex;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A connection, TCP or Unix-domain, in blocking style: a fiber that has to wait releases its worker
 * thread.
 *
 * {@snippet class="dev.weft.net.NetSnippetsTest" region="client"}
 *
 * <p>Reading and writing are independent: one fiber may read while another writes. Several that
 * read, or several that write, take turns; each {@code write} goes out in one piece. Any thread may
 * use it; one that is no fiber blocks.
 *
 * <p>Every wait is a cancel point: it ends with an {@link java.io.InterruptedIOException}, with the
 * interrupt status set, and the connection stays as it is. {@link #close} from elsewhere ends a
 * wait with an {@link java.nio.channels.AsynchronousCloseException}.
 */
public final class TcpStream implements AutoCloseable {
  /** The most that is put together from several buffers for one call. */
  private static final int GATHER = 64 * 1024;

  private final NetSocket socket;
  private final Mutex reading = Mutex.fair();
  private final Mutex writing = Mutex.fair();
  private volatile @Nullable Duration readTimeout;
  private volatile @Nullable Duration writeTimeout;

  TcpStream(NetSocket socket) {
    this.socket = socket;
  }

  /**
   * Connects to an address.
   *
   * @throws java.net.ConnectException if it refuses
   * @throws java.net.UnknownHostException if the address has not been resolved
   */
  public static TcpStream connect(SocketAddress address) throws IOException {
    return connect(address, Duration.ZERO);
  }

  /**
   * Connects to an address.
   *
   * @param timeout for how long to try; zero leaves it to the system
   * @throws java.net.ConnectException if it refuses
   * @throws java.net.SocketTimeoutException if nothing has come of it within the timeout
   */
  public static TcpStream connect(SocketAddress address, Duration timeout) throws IOException {
    Objects.requireNonNull(address, "address");
    return new TcpStream(Connecting.to(address, Limits.of(timeout)));
  }

  // ---- reading ----

  /** Reads at least a byte, if need be after a wait; returns how many, -1 at the end. */
  public int read(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (length == 0) {
      return 0;
    }
    int count;
    Turns.await(reading, socket, "read from");
    try {
      for (count = socket.read(bytes, offset, length);
          count == NetSocket.UNAVAILABLE;
          count = socket.read(bytes, offset, length)) {
        socket.await(Poller.READ, readTimeout, "read from");
      }
    } finally {
      reading.unlock();
    }
    socket.yieldAfterStreak();
    return count;
  }

  /** Reads at least a byte; returns how many, -1 at the end. */
  public int read(byte[] bytes) throws IOException {
    return read(bytes, 0, bytes.length);
  }

  /** Reads at least a byte into a buffer, unless it is full; returns how many, -1 at the end. */
  public int read(ByteBuffer buffer) throws IOException {
    checkWritable(buffer);
    if (!buffer.hasRemaining()) {
      return 0;
    }
    int count;
    Turns.await(reading, socket, "read from");
    try {
      count = readLocked(buffer);
    } finally {
      reading.unlock();
    }
    socket.yieldAfterStreak();
    return count;
  }

  private static void checkWritable(ByteBuffer buffer) {
    if (buffer.isReadOnly()) {
      throw new IllegalArgumentException("cannot read into a read-only buffer");
    }
  }

  private int readLocked(ByteBuffer buffer) throws IOException {
    int count = socket.read(buffer);
    while (count == NetSocket.UNAVAILABLE) {
      socket.await(Poller.READ, readTimeout, "read from");
      count = socket.read(buffer);
    }
    return count;
  }

  /**
   * Reads into several buffers, one after the other, as much as there is and at least a byte;
   * returns how many, -1 at the end.
   */
  public long read(ByteBuffer... buffers) throws IOException {
    for (ByteBuffer buffer : buffers) {
      checkWritable(buffer);
    }
    long sum;
    Turns.await(reading, socket, "read from");
    try {
      sum = readLocked(buffers);
    } finally {
      reading.unlock();
    }
    socket.yieldAfterStreak();
    return sum;
  }

  private long readLocked(ByteBuffer[] buffers) throws IOException {
    long sum = 0;
    for (ByteBuffer buffer : buffers) {
      while (buffer.hasRemaining()) {
        int count;
        try {
          count = sum == 0 ? readLocked(buffer) : socket.read(buffer);
        } catch (IOException e) {
          if (sum == 0) {
            throw e;
          }
          return sum; // the next read fails likewise
        }
        if (count < 0) {
          return sum > 0 ? sum : -1;
        }
        sum += count;
      }
    }
    return sum;
  }

  // ---- writing ----

  /** Writes all of it, if need be waiting in between. */
  public void write(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    Turns.await(writing, socket, "write to");
    try {
      writeLocked(bytes, offset, length);
    } finally {
      writing.unlock();
    }
    socket.yieldAfterStreak();
  }

  private void writeLocked(byte[] bytes, int offset, int length) throws IOException {
    int done = 0;
    while (done < length) {
      int count = socket.write(bytes, offset + done, length - done);
      if (count == NetSocket.UNAVAILABLE) {
        socket.await(Poller.WRITE, writeTimeout, "write to");
      } else {
        done += count;
      }
    }
  }

  /** Writes all of it. */
  public void write(byte[] bytes) throws IOException {
    write(bytes, 0, bytes.length);
  }

  /** Writes all that remains of the buffers, one after the other and nothing in between. */
  public void write(ByteBuffer... buffers) throws IOException {
    Turns.await(writing, socket, "write to");
    try {
      int next = 0;
      while (next < buffers.length) {
        ByteBuffer first = buffers[next];
        boolean more = next + 1 < buffers.length;
        if (more && first.remaining() < GATHER) {
          next = writeGathered(buffers, next);
        } else {
          writeLocked(first);
          next++;
        }
      }
    } finally {
      writing.unlock();
    }
    socket.yieldAfterStreak();
  }

  private void writeLocked(ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      if (socket.write(buffer) == NetSocket.UNAVAILABLE) {
        socket.await(Poller.WRITE, writeTimeout, "write to");
      }
    }
  }

  /** Writes small buffers as one; returns the index of the first that is not written. */
  private int writeGathered(ByteBuffer[] buffers, int from) throws IOException {
    int size = 0;
    int to = from;
    while (to < buffers.length && buffers[to].remaining() <= GATHER - size) {
      size += buffers[to++].remaining();
    }
    byte[] all = new byte[size];
    int at = 0;
    for (int i = from; i < to; i++) {
      int length = buffers[i].remaining();
      buffers[i].get(all, at, length);
      at += length;
    }
    writeLocked(all, 0, at); // less than size if a buffer is there twice
    return to;
  }

  // ---- the rest ----

  /**
   * Limits each wait of a read; zero is no limit. A read that timed out leaves the stream usable.
   */
  public void readTimeout(Duration limit) {
    readTimeout = Limits.of(limit);
  }

  /**
   * Limits each wait of a write; zero is no limit. A write that timed out has sent a part, of
   * unknown size.
   */
  public void writeTimeout(Duration limit) {
    writeTimeout = Limits.of(limit);
  }

  /** Returns a stream of what is read here; closing it closes this. */
  public InputStream inputStream() {
    return new StreamInput(this);
  }

  /** Returns a stream of what is written here; closing it closes this. */
  public OutputStream outputStream() {
    return new StreamOutput(this);
  }

  /** Says to the other side that nothing more will be written; reading goes on. */
  public void shutdownOutput() throws IOException {
    socket.shutdownOutput();
  }

  /** Reads no more: every read is at the end. */
  public void shutdownInput() throws IOException {
    socket.shutdownInput();
  }

  /** Sets an option, as {@code StandardSocketOptions.TCP_NODELAY}. */
  public <T> void option(SocketOption<T> option, T value) throws IOException {
    socket.option(option, Objects.requireNonNull(value, "value"));
  }

  /** Returns the value of an option. */
  public <T> T option(SocketOption<T> option) throws IOException {
    return socket.option(option);
  }

  /** Returns the address of this end. */
  public SocketAddress localAddress() throws IOException {
    return socket.localAddress();
  }

  /** Returns the address of the other end. */
  public SocketAddress remoteAddress() throws IOException {
    return socket.remoteAddress();
  }

  /** Returns whether it has not been closed here. */
  public boolean isOpen() {
    return !socket.isClosed();
  }

  /** Closes it and wakes all that wait for it. Closing twice is harmless. */
  @Override
  public void close() {
    socket.close();
  }

  @Override
  public String toString() {
    return "TcpStream " + socket;
  }
}
