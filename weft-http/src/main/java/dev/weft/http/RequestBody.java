package dev.weft.http;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * The body of a request: so many bytes, or chunks. Closing it reads what is left, up to a limit.
 */
final class RequestBody extends InputStream {
  /** The longest line that tells the size of a chunk, or one behind the last. */
  private static final int MOST_OF_LINE = 4096;

  private final Connection connection;
  private final Input input;
  private final HttpLimits limits;
  private final boolean chunked;

  // of the body, or of the chunk
  private long left;

  // of all chunks so far
  private long sum;
  private boolean firstChunk = true;
  private boolean ended;
  private boolean closed;
  private boolean broken;

  // whether the client waits to be told that it may send
  private boolean waitsForWord;

  RequestBody(Connection connection, long length, boolean waitsForWord) {
    this.connection = connection;
    this.input = connection.input();
    this.limits = connection.limits();
    this.chunked = length == RequestHead.CHUNKED;
    this.left = chunked ? 0 : length;
    this.ended = length == 0;
    this.waitsForWord = waitsForWord;
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
        throw new IOException("the request ends in the middle of its body");
      }
      left -= count;
      if (left == 0 && !chunked) {
        end();
      }
      fine = true;
      return count;
    } finally {
      broken |= !fine;
    }
  }

  private void end() {
    ended = true;
    connection.requestHasEnded();
  }

  /** Tells a client that waits for it that it may send. */
  void tellToSend() throws IOException {
    if (waitsForWord) {
      waitsForWord = false;
      connection.output().write("HTTP/1.1 100 Continue\r\n\r\n");
      connection.output().flush();
    }
  }

  @Override
  public int available() {
    return closed || ended ? 0 : (int) Math.min(left, input.end() - input.start());
  }

  /** Begins the next chunk; returns false if it is the last, which is empty. */
  private boolean nextChunk() throws IOException {
    if (!firstChunk) {
      expectLineEnd();
    }
    firstChunk = false;
    left = chunkSize();
    sum += left;
    if (isTooLong()) {
      throw new IOException("the body is longer than " + limits.bodyBytes() + " bytes");
    }
    if (left > 0) {
      return true;
    }
    for (int lines = 0; skipLine(0) > 0; lines++) { // what may follow are headers, of no use here
      if (lines == limits.headers()) {
        throw new IOException("too many headers behind the last chunk");
      }
    }
    return false;
  }

  /** Returns whether there is more of it than may be. */
  boolean isTooLong() {
    return sum > limits.bodyBytes();
  }

  private long chunkSize() throws IOException {
    long size = 0;
    int digits = 0;
    int next = input.readByte();
    for (; Character.digit(next, 16) >= 0 && next < 128; next = input.readByte()) {
      if (++digits > 15) {
        throw new IOException("a chunk is too long");
      }
      size = 16 * size + Character.digit(next, 16);
    }
    if (digits == 0 || (next != '\r' && next != ';' && next != ' ' && next != '\t')) {
      throw new IOException("the size of a chunk is no number");
    }
    if (next == '\r') {
      expect('\n');
    } else {
      skipLine(1);
    }
    return size;
  }

  /** Skips a line; returns how long it was, with what was read of it before. */
  private int skipLine(int before) throws IOException {
    int length = before;
    for (int next = input.readByte(); next != '\r'; next = input.readByte()) {
      if (next == '\n' || ++length > MOST_OF_LINE) {
        throw new IOException("a line between chunks is broken, or too long");
      }
    }
    expect('\n');
    return length;
  }

  private void expectLineEnd() throws IOException {
    expect('\r');
    expect('\n');
  }

  private void expect(int wanted) throws IOException {
    if (input.readByte() != wanted) {
      throw new IOException("a chunk does not end where it said");
    }
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
