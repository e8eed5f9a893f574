package dev.weft.http;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request: so many bytes, or chunks. Closing it reads what is left, up to a limit.
 */
final class RequestBody extends InputStream {
  /** How far causes of an exception are followed; they may go round in a circle. */
  private static final int MOST_CAUSES = 100;

  /** What a read throws if the client has broken the rules. */
  private static final class Malformed extends IOException {
    private static final long serialVersionUID = 1;

    private final Rejected why;

    Malformed(Rejected why) {
      super(why.getMessage());
      this.why = why;
    }
  }

  private final Connection connection;
  private final Input input;
  private final HttpLimits limits;

  // null if the head tells the length
  private final @Nullable ChunkReader chunks;

  // of the body, or of the chunk
  private long left;

  // of all chunks so far
  private long sum;
  private boolean ended;
  private boolean closed;
  private boolean broken;

  // how the client has broken the rules
  private volatile @Nullable Malformed flaw;

  // whether the client waits to be told that it may send
  private boolean waitsForWord;

  // whether it has been told something else
  private boolean refused;

  RequestBody(Connection connection, long length, boolean waitsForWord) {
    this.connection = connection;
    this.input = connection.input();
    this.limits = connection.limits();
    boolean chunked = length == RequestHead.CHUNKED;
    this.chunks = chunked ? new ChunkReader(input, limits) : null;
    this.left = chunked ? 0 : length;
    this.ended = length == 0;
    this.waitsForWord = waitsForWord && !ended;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (closed) {
      throw new IOException("the body of the request has been closed");
    }
    return length == 0 ? 0 : readSome(bytes, offset, length);
  }

  private int readSome(byte[] bytes, int offset, int length) throws IOException {
    if (ended) {
      return -1;
    }
    Malformed before = flaw;
    if (before != null) {
      throw new IOException(before.getMessage(), before);
    }
    boolean fine = false;
    try {
      tellToSend();
      if (left == 0 && !nextChunk()) {
        end();
        fine = true;
        return -1;
      }
      int count = input.read(bytes, offset, (int) Math.min(length, left));
      if (count < 0) {
        throw new EOFException("the other side has ended in the middle");
      }
      left -= count;
      if (left == 0 && chunks == null) {
        end();
      }
      fine = true;
      return count;
    } catch (EOFException e) {
      throw malformed(
          new Rejected(Status.BAD_REQUEST, "the request ends in the middle of its body"));
    } catch (Rejected e) {
      throw malformed(e);
    } finally {
      broken |= !fine;
    }
  }

  private IOException malformed(Rejected why) {
    Malformed thrown = new Malformed(why);
    flaw = thrown;
    return thrown;
  }

  private void end() {
    ended = true;
    connection.requestHasEnded();
  }

  /** Tells a client that waits for it that it may send. */
  void tellToSend() throws IOException {
    if (waitsForWord) {
      if (refused) {
        throw new IOException(
            "the client keeps the body of its request: it waited for 100 Continue, and got the"
                + " response first; read before sendResponseHeaders");
      }
      waitsForWord = false;
      connection.output().write("HTTP/1.1 100 Continue\r\n\r\n");
      connection.output().flush();
    }
  }

  /**
   * Leaves the body to a client that waits to be told that it may send: the response that follows
   * tells it not to. A 100 Continue behind that would be taken for content, or for the response to
   * the next request: RFC 9110, section 10.1.1.
   */
  void refuse() {
    refused = true;
  }

  /** Returns whether all of it has been read. */
  boolean hasEnded() {
    return ended;
  }

  /** Returns whether the client still waits to be told that it may send. */
  boolean waitsForWord() {
    return waitsForWord;
  }

  @Override
  public int available() {
    return closed || ended ? 0 : (int) Math.min(left, input.end() - input.start());
  }

  /** Begins the next chunk; returns false if there is none. */
  private boolean nextChunk() throws IOException, Rejected {
    left = Objects.requireNonNull(chunks).next();
    sum += left;
    if (sum > limits.bodyBytes()) {
      throw new Rejected(
          Status.CONTENT_TOO_LARGE, "the body is longer than " + limits.bodyBytes() + " bytes");
    }
    return left > 0;
  }

  /**
   * Returns how the client has broken the rules, if that is why something was thrown, else null: a
   * handler may go on after a body that cannot be read, and then fail by its own mistake.
   */
  @Nullable Rejected flawBehind(Throwable thrown) {
    Malformed known = flaw;
    Throwable e = thrown;
    for (int depth = 0; known != null && e != null && depth < MOST_CAUSES; depth++) {
      if (e == known) {
        return known.why;
      }
      e = e.getCause();
    }
    return null;
  }

  /** Ends reading: the exchange is over. */
  void endReading() {
    closed = true;
  }

  @Override
  public void close() throws IOException {
    if (!closed) {
      drain();
      closed = true;
    }
  }

  /**
   * Reads what is left, so that the next request can be; returns false if that is too much, or has
   * failed, or if the client still waits to be told that it may send.
   */
  boolean drain() {
    if (ended || broken || waitsForWord) {
      return ended;
    }
    byte[] scratch = new byte[4096];
    try {
      for (long drained = 0; !ended && drained <= limits.drainBytes(); ) {
        drained += Math.max(readSome(scratch, 0, scratch.length), 0);
      }
    } catch (IOException e) {
      return false;
    }
    return ended;
  }
}
