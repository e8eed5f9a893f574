package dev.weft.http;

import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;

/**
 * What has come over a connection and has not been taken yet.
 *
 * <pre>
 *          start            end
 *   ┌────────┬───────────────┬──────────┐
 *   │ taken  │  still there  │   room   │  bytes
 *   └────────┴───────────────┴──────────┘
 * </pre>
 */
final class Input {
  /** Where the bytes come from. */
  @FunctionalInterface
  interface Source {
    /** Reads at least a byte, if need be after a wait; returns how many, -1 at the end. */
    int read(byte[] bytes, int offset, int length) throws IOException;
  }

  /** Enough for a usual request, and not too much for a connection that waits. */
  private static final int USUAL_SIZE = 2 * 1024;

  private final Source source;
  private byte[] bytes = new byte[USUAL_SIZE];
  private int start;
  private int end;

  Input(Source source) {
    this.source = source;
  }

  /** The array that what is there is in; another one after {@link #more}. */
  byte[] bytes() {
    return bytes;
  }

  int start() {
    return start;
  }

  int end() {
    return end;
  }

  boolean isEmpty() {
    return start == end;
  }

  /** Takes so many bytes of those that are there. */
  void take(int count) {
    start += count;
  }

  /** Waits for more bytes, which are put behind those that are there; returns false at the end. */
  boolean more() throws IOException {
    return more(Integer.MAX_VALUE);
  }

  /**
   * Waits for more bytes, for a reader that refuses more than so many: they get room for one more,
   * which tells that they are too many, and not for twice as many.
   */
  boolean more(int most) throws IOException {
    if (start == end) {
      clear();
    } else if (end == bytes.length) {
      int there = end - start;
      bytes =
          start > 0
              ? Arrays.copyOfRange(bytes, start, start + bytes.length)
              : Arrays.copyOf(bytes, (int) Math.min(2L * bytes.length, most + 1L));
      start = 0;
      end = there;
    }
    int count = source.read(bytes, end, bytes.length - end);
    if (count < 0) {
      return false;
    }
    end += count;
    return true;
  }

  /** Goes back to the usual size, when all is taken: a rare, long request has needed more. */
  private void clear() {
    start = 0;
    end = 0;
    if (bytes.length > USUAL_SIZE) {
      bytes = new byte[USUAL_SIZE];
    }
  }

  /** Takes one byte, if need be after a wait; -1 at the end. */
  int read() throws IOException {
    return start == end && !more() ? -1 : bytes[start++] & 0xFF;
  }

  /** Takes one byte, which must not be the end. */
  int readByte() throws IOException {
    int next = read();
    if (next < 0) {
      throw new EOFException("the other side has ended in the middle");
    }
    return next;
  }

  /** Takes some bytes, at least one; returns how many, -1 at the end. */
  int read(byte[] target, int offset, int length) throws IOException {
    if (start == end) {
      if (length >= USUAL_SIZE) {
        clear();
        return source.read(target, offset, length); // no need to copy what is long
      }
      if (!more()) {
        return -1;
      }
    }
    int count = Math.min(length, end - start);
    System.arraycopy(bytes, start, target, offset, count);
    start += count;
    return count;
  }

  /** Takes so many bytes. */
  void readFully(byte[] target, int offset, int length) throws IOException {
    for (int done = 0; done < length; ) {
      int count = read(target, offset + done, length - done);
      if (count < 0) {
        throw new EOFException("the other side has ended in the middle");
      }
      done += count;
    }
  }
}
