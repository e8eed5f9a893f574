package dev.weft.http;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A check of UTF-8 that comes in pieces, RFC 3629, section 4. It fails at the first byte that no
 * text can have there, so that a client need not be read to the end of its message.
 *
 * <p>Invariant: {@code missing} bytes are still to come of a character; the next of them must be
 * from {@code low} to {@code high}, which excludes overlong forms, surrogates and what is beyond
 * U+10FFFF.
 */
final class Utf8Check {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final long NOT_ASCII = 0x8080_8080_8080_8080L;
  private static final int FIRST_CONTINUATION = 0x80;
  private static final int LAST_CONTINUATION = 0xBF;

  private int missing;
  private int low;
  private int high;

  /** Returns whether all of the bytes are text. */
  static boolean isText(byte[] bytes) {
    Utf8Check check = new Utf8Check();
    return check.accepts(bytes, 0, bytes.length) && check.isComplete();
  }

  /** Returns whether text may go on with these bytes; after false nothing more may be asked. */
  boolean accepts(byte[] bytes, int offset, int count) {
    int end = offset + count;
    for (int i = offset; i < end; ) {
      if (missing > 0) {
        int next = bytes[i++] & 0xFF;
        if (next < low || next > high) {
          return false;
        }
        expect(missing - 1, FIRST_CONTINUATION, LAST_CONTINUATION);
      } else if (i <= end - Long.BYTES && ((long) LONGS.get(bytes, i) & NOT_ASCII) == 0) {
        i += Long.BYTES;
      } else {
        int next = bytes[i++] & 0xFF;
        if (next >= FIRST_CONTINUATION && !begins(next)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Returns whether the last character has ended. */
  boolean isComplete() {
    return missing == 0;
  }

  /** Notes what has to follow the first byte of a character of several; returns false if none. */
  private boolean begins(int first) {
    if (first < 0xC2 || first > 0xF4) {
      return false;
    }
    if (first < 0xE0) {
      expect(1, FIRST_CONTINUATION, LAST_CONTINUATION);
    } else if (first < 0xF0) {
      expect(
          2, first == 0xE0 ? 0xA0 : FIRST_CONTINUATION, first == 0xED ? 0x9F : LAST_CONTINUATION);
    } else {
      expect(
          3, first == 0xF0 ? 0x90 : FIRST_CONTINUATION, first == 0xF4 ? 0x8F : LAST_CONTINUATION);
    }
    return true;
  }

  private void expect(int count, int lowest, int highest) {
    missing = count;
    low = lowest;
    high = highest;
  }
}
