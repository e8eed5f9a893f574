package dev.weft.bench.im;

import dev.weft.net.TcpStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Lines over TCP, or over a WebSocket; as little as a load needs. One fiber reads. */
final class LineSocket implements AutoCloseable {
  private static final int TEXT = 1;
  private static final int CLOSE = 8;

  /** The head of the request just fits, so that it takes as much memory as it can. */
  private static final int LONG_HEADER = 7_000;

  private final TcpStream stream;
  private final boolean isWeb;
  private byte[] buffer = new byte[512];
  private int start;
  private int end;

  /** Connects by TCP. */
  static LineSocket lines(InetSocketAddress address) throws IOException {
    return new LineSocket(TcpStream.connect(address), false);
  }

  /** Connects by WebSocket. */
  static LineSocket web(InetSocketAddress address) throws IOException {
    LineSocket socket = new LineSocket(TcpStream.connect(address), true);
    String host = address.getAddress().getHostAddress() + ":" + address.getPort();
    socket.stream.write(
        ("GET /chat HTTP/1.1\r\nHost: "
                + host
                + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII));
    String status = socket.readLine();
    while (!socket.readLine().isEmpty()) {
      // a header
    }
    if (!status.contains(" 101 ")) {
      throw new IOException("no WebSocket: " + status);
    }
    return socket;
  }

  private LineSocket(TcpStream stream, boolean isWeb) {
    this.stream = stream;
    this.isWeb = isWeb;
  }

  /** Sends a line; any fiber may. */
  void send(String line) throws IOException {
    byte[] text = (isWeb ? line : line + "\n").getBytes(StandardCharsets.UTF_8);
    stream.write(isWeb ? frame(text) : text);
  }

  /** Connects by TCP to the port of the page, and begins a request that never ends. */
  static LineSocket halfRequest(InetSocketAddress address) throws IOException {
    LineSocket socket = new LineSocket(TcpStream.connect(address), true);
    String head = "GET / HTTP/1.1\r\nHost: x\r\nA: " + "a".repeat(LONG_HEADER);
    socket.stream.write(head.getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  /** Sends one more byte of a line that never ends. */
  void drip() throws IOException {
    stream.write(new byte[] {'P'});
  }

  /** A frame of a client is masked; a key of zeros masks nothing (RFC 6455, section 5.3). */
  private static byte[] frame(byte[] text) {
    if (text.length > 125) {
      throw new IllegalArgumentException("a load sends short lines");
    }
    byte[] frame = new byte[6 + text.length];
    frame[0] = (byte) (0x80 | TEXT);
    frame[1] = (byte) (0x80 | text.length);
    System.arraycopy(text, 0, frame, 6, text.length);
    return frame;
  }

  /** Waits for the next line. */
  String receive() throws IOException {
    while (isWeb) {
      need(2);
      int opcode = buffer[start] & 0x0F;
      int length = buffer[start + 1] & 0x7F;
      int head = 2;
      if (length == 126) {
        need(4);
        length = (buffer[start + 2] & 0xFF) << 8 | (buffer[start + 3] & 0xFF);
        head = 4;
      }
      need(head + length);
      String text = new String(buffer, start + head, length, StandardCharsets.UTF_8);
      start += head + length;
      if (opcode == CLOSE) {
        throw new EOFException("the server has closed");
      }
      if (opcode == TEXT) {
        return text;
      }
    }
    return readLine();
  }

  private String readLine() throws IOException {
    int searched = start;
    while (true) {
      for (; searched < end; searched++) {
        if (buffer[searched] == '\n') {
          int to = searched > start && buffer[searched - 1] == '\r' ? searched - 1 : searched;
          String line = new String(buffer, start, to - start, StandardCharsets.UTF_8);
          start = searched + 1;
          return line;
        }
      }
      int seen = searched - start;
      more();
      searched = start + seen;
    }
  }

  private void need(int count) throws IOException {
    while (end - start < count) {
      more();
    }
  }

  private void more() throws IOException {
    if (start > 0) {
      System.arraycopy(buffer, start, buffer, 0, end - start);
      end -= start;
      start = 0;
    }
    if (end == buffer.length) {
      buffer = Arrays.copyOf(buffer, 2 * buffer.length);
    }
    int count = stream.read(buffer, end, buffer.length - end);
    if (count < 0) {
      throw new EOFException("the server has closed");
    }
    end += count;
  }

  @Override
  public void close() {
    stream.close();
  }
}
