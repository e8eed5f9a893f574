package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.util.Arrays;

/** What is to be sent over a connection, until there is enough of it. */
final class Output {
  /** Where the bytes go. */
  @FunctionalInterface
  interface Sink {
    /** Writes all of it. */
    void write(byte[] bytes, int offset, int length) throws IOException;
  }

  private static final int MOST = 8 * 1024;

  private final Sink sink;
  private byte[] bytes = new byte[512];
  private int size;

  Output(Sink sink) {
    this.sink = sink;
  }

  void write(int oneByte) throws IOException {
    if (size == bytes.length && !hasRoom(1)) {
      flush();
    }
    bytes[size++] = (byte) oneByte;
  }

  void write(byte[] source, int offset, int length) throws IOException {
    if (length > bytes.length - size && !hasRoom(length)) {
      flush();
      if (length >= MOST) {
        sink.write(source, offset, length); // no need to copy what is long
        return;
      }
      if (length > bytes.length) {
        bytes = new byte[MOST];
      }
    }
    System.arraycopy(source, offset, bytes, size, length);
    size += length;
  }

  /** Makes room for so many bytes more; returns false if there are to be no more. */
  private boolean hasRoom(int count) {
    if (count > MOST - size) {
      return false;
    }
    bytes = Arrays.copyOf(bytes, Math.min(MOST, Math.max(2 * bytes.length, size + count)));
    return true;
  }

  /** Writes text in ISO 8859-1, and ? for what that does not have. */
  void write(String text) throws IOException {
    int length = text.length();
    if (length > bytes.length - size && !hasRoom(length)) {
      byte[] encoded = text.getBytes(ISO_8859_1);
      write(encoded, 0, encoded.length);
      return;
    }
    byte[] target = bytes;
    int at = size;
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      target[at + i] = (byte) (c < 256 ? c : '?');
    }
    size = at + length;
  }

  /** Sends what is there. */
  void flush() throws IOException {
    int count = size;
    size = 0;
    if (count > 0) {
      sink.write(bytes, 0, count);
    }
  }
}
