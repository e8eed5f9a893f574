package dev.weft.http;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.net.TcpStream;
import dev.weft.sync.Mutex;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * A connection that is encrypted by TLS. {@link #handshake} comes first; after that reading and
 * writing are independent, and a handshake or a change of keys that the other side begins is done
 * on the way.
 *
 * <pre>
 *   stream ──> net ──> engine ──> plain, or the caller's array      the reader's
 *   stream <── a borrowed buffer <── engine <── the caller's array  under the lock outbound
 * </pre>
 */
final class TlsTransport implements Transport {
  /*
   * Invariants:
   *  - net, plain, latest and ended belong to the reader; at first that is the thread in handshake().
   *  - net and plain are ready to be taken from, except inside fill() and unwrap().
   *  - Records reach the stream in the order in which the engine made them: a thread that
   *    wraps holds outbound until they are sent.
   *  - The reader never waits for outbound. If the engine has an answer ready and a writer holds
   *    outbound, owed is set: the writer checks owed after its unlock and sends the answer then.
   *  - Once broken is set nothing is sent: the other side has part of a record, and
   *    would take whatever follows for the rest of it.
   *
   * The engine has a lock of its own, which no thread holds while it waits for the other side.
   */

  /** How much room for encrypted bytes a connection at rest has: enough for a usual request. */
  private static final int SMALL = 2 * 1024;

  /** How long a last word may wait for room. */
  private static final Duration LAST_WORD = Duration.ofSeconds(1);

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final TcpStream stream;
  private final SSLEngine engine;

  // encrypted bytes that have come and are not yet unwrapped
  private ByteBuffer net = NOTHING;

  // what the caller's array had no room for
  private ByteBuffer plain = NOTHING;

  // how many bytes came at the last time
  private int latest;

  // true once the other side will send nothing more
  private boolean ended;

  private final Mutex outbound = Mutex.fair();
  private volatile boolean owed;

  @GuardedBy("outbound")
  private boolean broken;

  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * Creates the server's end of a connection.
   *
   * @param engine as it is to be, in server mode, and not used yet
   */
  TlsTransport(TcpStream stream, SSLEngine engine) {
    this.stream = stream;
    this.engine = engine;
  }

  /**
   * Agrees with the other side on keys, and checks its certificate if asked to. What the engine has
   * to compute is computed here.
   */
  void handshake() throws IOException {
    try {
      engine.beginHandshake();
      HandshakeStatus next = engine.getHandshakeStatus();
      while (next != HandshakeStatus.NOT_HANDSHAKING) {
        switch (next) {
          case NEED_TASK -> runTasks();
          case NEED_WRAP -> send(NOTHING);
          default -> unwrap(NOTHING);
        }
        if (ended) {
          throw new EOFException(
              "cannot shake hands with %s: it has ended in the middle"
                  .formatted(stream.remoteAddress()));
        }
        next = engine.getHandshakeStatus();
      }
      if (engine.isOutboundDone()) {
        throw new ClosedChannelException(); // by close() meanwhile
      }
    } catch (SSLException e) {
      sendLastWord();
      throw e;
    } catch (RuntimeException e) { // of a key or trust manager
      sendLastWord();
      throw new SSLException(
          "cannot shake hands with %s: %s".formatted(stream.remoteAddress(), e), e);
    }
  }

  private void runTasks() {
    for (@Nullable Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  // ---- reading ----

  /**
   * {@inheritDoc}
   *
   * <p>It is the end, too, if the connection ends without the other side's close_notify. Many do
   * that, and HTTP knows by itself whether something is missing.
   */
  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (length == 0) {
      return 0;
    }
    if (!plain.hasRemaining()) {
      ByteBuffer target = ByteBuffer.wrap(bytes, offset, length);
      int count = readRecord(target);
      if (count != 0) {
        return count;
      }
    }
    int count = Math.min(length, plain.remaining());
    plain.get(bytes, offset, count);
    return count;
  }

  /** Reads into the target; returns how many, -1 at the end, or 0 if it is in plain. */
  private int readRecord(ByteBuffer target) throws IOException {
    int start = target.position();
    try {
      while (target.position() == start && !plain.hasRemaining()) {
        if (ended) {
          return -1;
        }
        if (unwrap(target) != HandshakeStatus.NOT_HANDSHAKING) {
          runTasks();
          if (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
            answer();
          }
        }
      }
    } catch (SSLException e) {
      sendLastWord();
      throw e;
    }
    return target.position() - start;
  }

  /**
   * Unwraps the next record, if need be after a wait, into the target or, if that is too small,
   * into plain. Sets ended if there is none.
   */
  private HandshakeStatus unwrap(ByteBuffer target) throws IOException {
    while (true) {
      SSLEngineResult result = engine.unwrap(net, target);
      if (result.getStatus() == Status.BUFFER_OVERFLOW) {
        result = unwrapToPlain();
      }
      switch (result.getStatus()) {
        case BUFFER_UNDERFLOW -> {
          if (!fill()) {
            ended = true;
            return HandshakeStatus.NOT_HANDSHAKING;
          }
        }
        case CLOSED -> {
          ended = true; // what is to be said to that is said by close()
          return HandshakeStatus.NOT_HANDSHAKING;
        }
        default -> {
          return result.getHandshakeStatus();
        }
      }
    }
  }

  private SSLEngineResult unwrapToPlain() throws IOException {
    int size = engine.getSession().getApplicationBufferSize();
    while (true) {
      plain = plain.capacity() < size ? ByteBuffer.allocate(size) : plain.clear();
      try {
        SSLEngineResult result = engine.unwrap(net, plain);
        if (result.getStatus() != Status.BUFFER_OVERFLOW) {
          return result;
        }
      } finally {
        plain.flip();
      }
      size = 2 * plain.capacity();
    }
  }

  /** Waits for more encrypted bytes; returns false if there are none. */
  private boolean fill() throws IOException {
    if (!net.hasRemaining() && latest <= SMALL) { // perhaps a long wait
      plain = NOTHING;
      if (net.capacity() != SMALL) {
        net = ByteBuffer.allocate(SMALL).flip();
      }
    } else if (net.remaining() == net.capacity()) {
      int size = Math.max(packetSize(), 2 * net.capacity());
      net = ByteBuffer.allocate(size).put(net).flip();
    }
    net.compact();
    try {
      int count = stream.read(net.array(), net.position(), net.remaining());
      if (count < 0) {
        return false;
      }
      latest = count;
      net.position(net.position() + count);
      return true;
    } finally {
      net.flip();
    }
  }

  // ---- writing ----

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (length == 0) {
      return;
    }
    send(ByteBuffer.wrap(bytes, offset, length));
  }

  /** Sends all of the source and what the engine adds, when it is the caller's turn. */
  private void send(ByteBuffer source) throws IOException {
    if (!outbound.tryLock()) {
      try {
        outbound.lockInterruptibly();
      } catch (InterruptedException e) {
        throw interrupted(e);
      }
    }
    try {
      wrap(source);
    } finally {
      outbound.unlock();
    }
    if (owed) {
      answer();
    }
  }

  private InterruptedIOException interrupted(InterruptedException e) throws IOException {
    Thread.currentThread().interrupt();
    InterruptedIOException thrown =
        new InterruptedIOException(
            "cannot write to %s: %s".formatted(stream.remoteAddress(), e.getMessage()));
    thrown.initCause(e);
    return thrown;
  }

  /**
   * Sends what the engine has to say by itself. If another thread is writing, that thread does: the
   * reader must not wait for the other side to read.
   */
  private void answer() throws IOException {
    owed = true;
    while (owed && outbound.tryLock()) {
      try {
        owed = false;
        wrap(NOTHING);
      } finally {
        outbound.unlock();
      }
    }
  }

  /** Wraps and sends all of the source and what the engine adds. */
  @GuardedBy("outbound")
  private void wrap(ByteBuffer source) throws IOException {
    if (broken) {
      throw new IOException(
          "cannot write to %s: an earlier write has failed within a record"
              .formatted(stream.remoteAddress()));
    }
    ByteBuffer records = RecordBuffers.borrow();
    try {
      boolean more = true;
      while (more) {
        SSLEngineResult result = wrapNext(source, records);
        if (result.getStatus() == Status.BUFFER_OVERFLOW) {
          if (records.position() == 0) { // there is no room for a single record
            records = ByteBuffer.allocate(Math.max(packetSize(), 2 * records.capacity()));
          }
          sendRecords(records);
          continue;
        }
        if (result.getStatus() == Status.CLOSED && source.hasRemaining()) {
          sendRecords(records);
          throw closedFor();
        }
        HandshakeStatus next = result.getHandshakeStatus();
        if (next == HandshakeStatus.NEED_TASK) {
          runTasks();
          Thread.yield(); // the reader may be at it
        }
        more =
            source.hasRemaining()
                || (next == HandshakeStatus.NEED_WRAP && result.bytesProduced() > 0);
      }
      sendRecords(records); // those of a handshake go together
    } finally {
      RecordBuffers.giveBack(records);
    }
  }

  @GuardedBy("outbound")
  private SSLEngineResult wrapNext(ByteBuffer source, ByteBuffer records) throws IOException {
    try {
      return engine.wrap(source, records);
    } catch (SSLException e) {
      sendRecords(records); // they come before the alert
      throw e;
    }
  }

  @GuardedBy("outbound")
  private void sendRecords(ByteBuffer records) throws IOException {
    if (records.position() > 0) {
      broken = true;
      stream.write(records.array(), records.arrayOffset(), records.position());
      broken = false;
      records.clear();
    }
  }

  private int packetSize() {
    return engine.getSession().getPacketBufferSize();
  }

  private IOException closedFor() throws IOException {
    return closed.get()
        ? new ClosedChannelException()
        : new SSLException(
            "cannot write to %s: it has ended the TLS session".formatted(stream.remoteAddress()));
  }

  // ---- the rest ----

  @Override
  public InetSocketAddress localAddress() throws IOException {
    return (InetSocketAddress) stream.localAddress();
  }

  @Override
  public InetSocketAddress remoteAddress() throws IOException {
    return (InetSocketAddress) stream.remoteAddress();
  }

  @Override
  public SSLSession session() {
    return engine.getSession();
  }

  /**
   * Closes it, after a close_notify if no thread is writing. The first close waits up to a second
   * if the other side takes nothing; another close ends that wait.
   */
  @Override
  public void close() {
    if (!closed.getAndSet(true)) {
      engine.closeOutbound();
      sendLastWord();
    }
    stream.close();
  }

  @Override
  public void abort() {
    closed.set(true);
    stream.close();
  }

  /** {@inheritDoc} What comes is discarded encrypted: nothing of it would be used. */
  @Override
  public void linger(long mostBytes) throws IOException {
    engine.closeOutbound();
    sendLastWord();
    stream.shutdownOutput();
    PlainTransport.discard(stream, mostBytes);
  }

  /** Sends a close_notify or an alert that the engine has ready, if that can be done soon. */
  private void sendLastWord() {
    if (!outbound.tryLock()) {
      return;
    }
    try {
      stream.writeTimeout(LAST_WORD);
      wrap(NOTHING);
    } catch (IOException | RuntimeException e) {
      // the other side has gone: it needs no alert
    } finally {
      outbound.unlock();
    }
  }
}
