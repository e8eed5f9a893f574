package dev.weft.http;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;

/**
 * The body of a response. It is there from the start, and takes bytes once the headers are sent.
 */
final class ResponseBody extends OutputStream {
  /** How the other side gets to know where it ends. */
  enum Framing {
    /** Nothing can be written yet. */
    UNKNOWN,
    /** After as many bytes as the headers say. */
    LENGTH,
    /** After an empty chunk. */
    CHUNKS,
    /** When the server closes the connection. */
    END,
    /** There is no body, as in the response to HEAD: bytes that the handler writes are dropped. */
    NOBODY
  }

  private static final int CHUNK = 4096;

  private final Exchange exchange;
  private final Output output;
  private Framing framing = Framing.UNKNOWN;
  private long left;
  private byte[] chunk = {};
  private int chunkSize;
  private boolean closed;

  ResponseBody(Exchange exchange, Output output) {
    this.exchange = exchange;
    this.output = output;
  }

  /** Says how it is framed; the headers have been written. */
  void begin(Framing chosen, long length) {
    framing = chosen;
    left = length;
  }

  @Override
  public void write(int oneByte) throws IOException {
    write(new byte[] {(byte) oneByte}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (framing == Framing.NOBODY) {
      return;
    }
    checkBegun();
    if (closed) {
      throw new IOException("the body of the response has been closed");
    }
    if (framing == Framing.LENGTH && length > left) {
      throw new IOException(
          "too many bytes: %d more than sendResponseHeaders was told".formatted(length - left));
    }
    left -= length;
    try {
      if (framing == Framing.CHUNKS) {
        writeToChunk(bytes, offset, length);
      } else {
        output.write(bytes, offset, length);
      }
    } catch (IOException e) {
      exchange.breakOff();
      throw e;
    }
  }

  private void checkBegun() throws IOException {
    if (framing == Framing.UNKNOWN) {
      throw new IOException("the headers have not been sent yet: call sendResponseHeaders first");
    }
  }

  private void writeToChunk(byte[] bytes, int offset, int length) throws IOException {
    if (length > chunk.length - chunkSize) {
      sendChunk(chunk, 0, chunkSize);
      chunkSize = 0;
      if (length >= CHUNK) {
        sendChunk(bytes, offset, length);
        return;
      }
      if (chunk.length == 0) {
        chunk = new byte[CHUNK];
      }
    }
    System.arraycopy(bytes, offset, chunk, chunkSize, length);
    chunkSize += length;
  }

  private void sendChunk(byte[] bytes, int offset, int length) throws IOException {
    if (length > 0) {
      output.write(Integer.toHexString(length));
      output.write("\r\n");
      output.write(bytes, offset, length);
      output.write("\r\n");
    }
  }

  @Override
  public void flush() throws IOException {
    checkBegun();
    if (closed) {
      return;
    }
    try {
      sendChunk(chunk, 0, chunkSize);
      chunkSize = 0;
      output.flush();
    } catch (IOException e) {
      exchange.breakOff();
      throw e;
    }
  }

  @Override
  public void close() throws IOException {
    checkBegun();
    if (closed) {
      return;
    }
    closed = true;
    try {
      if (framing == Framing.CHUNKS) {
        sendChunk(chunk, 0, chunkSize);
        output.write("0\r\n\r\n");
      }
      output.flush();
      if (framing == Framing.LENGTH && left > 0) {
        throw new IOException(
            "%d bytes are missing of those that sendResponseHeaders was told".formatted(left));
      }
    } catch (IOException e) {
      exchange.breakOff();
      throw e;
    }
    exchange.endResponse();
  }
}
