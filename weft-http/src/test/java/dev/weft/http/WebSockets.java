package dev.weft.http;

import com.sun.net.httpserver.Headers;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Random;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** What the tests of WebSocket share: the other side of it. */
final class WebSockets {
  static final int FIN = 0x80;

  private WebSockets() {}

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static byte[] join(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  /** A client's frame; of its first byte the caller says all. */
  static byte[] frame(int first, byte[] payload) {
    return frame(first, payload, 0x1F2E_3D4C ^ payload.length);
  }

  static byte[] frame(int first, byte[] payload, int key) {
    int length = payload.length;
    ByteBuffer frame = ByteBuffer.allocate(length + 14).put((byte) first);
    if (length < 126) {
      frame.put((byte) (0x80 | length));
    } else if (length < 65_536) {
      frame.put((byte) (0x80 | 126)).putShort((short) length);
    } else {
      frame.put((byte) (0x80 | 127)).putLong(length);
    }
    frame.putInt(key);
    for (int i = 0; i < length; i++) {
      frame.put((byte) (payload[i] ^ (key >>> (8 * (3 - i % 4)))));
    }
    byte[] all = new byte[frame.position()];
    frame.flip().get(all);
    return all;
  }

  static byte[] text(String text) {
    return frame(FIN | WebSocketFrames.TEXT, bytes(text));
  }

  static byte[] close(int code, String reason) {
    return frame(FIN | WebSocketFrames.CLOSE, closePayload(code, bytes(reason)));
  }

  static byte[] closePayload(int code, byte[] reason) {
    return join(new byte[] {(byte) (code >> 8), (byte) code}, reason);
  }

  /** A frame of the server's. */
  @SuppressWarnings("ArrayRecordComponent")
  record Sent(int opcode, byte[] payload) {
    /** Reads the next one, which must be as a server's has to be. */
    static Sent read(InputStream stream) throws IOException {
      DataInputStream in = new DataInputStream(stream);
      int first = in.readUnsignedByte();
      int form = in.readUnsignedByte();
      if ((first & 0xF0) != FIN || form > 127) {
        throw new AssertionError("no frame of a server: %x %x".formatted(first, form));
      }
      long length =
          switch (form) {
            case 126 -> in.readUnsignedShort();
            case 127 -> in.readLong();
            default -> form;
          };
      byte[] payload = new byte[Math.toIntExact(length)];
      in.readFully(payload);
      return new Sent(first & 0x0F, payload);
    }

    String text() {
      return new String(payload, StandardCharsets.UTF_8);
    }

    /** Returns opcode and content, or code and reason, in a line. */
    @Override
    public String toString() {
      return switch (opcode) {
        case WebSocketFrames.TEXT -> "text " + text();
        case WebSocketFrames.BINARY -> "binary " + payload.length;
        case WebSocketFrames.PING -> "ping " + text();
        case WebSocketFrames.PONG -> "pong " + text();
        case WebSocketFrames.CLOSE ->
            payload.length == 0
                ? "close"
                : "close "
                    + ByteBuffer.wrap(payload).getChar(0) * 1
                    + (" " + text().substring(2)).stripTrailing();
        default -> "opcode " + opcode;
      };
    }
  }

  /** A connection in memory: what comes is known, in pieces of any size. */
  static final class Memory implements Transport {
    private final ByteArrayInputStream input;
    private final @Nullable Random pieces;
    private final boolean interrupts;
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();
    private int writes;
    private boolean closed;

    Memory(byte[]... input) {
      this(null, false, input);
    }

    /** Gives pieces of random size, and fails now and then if it is to. */
    Memory(@Nullable Random pieces, boolean interrupts, byte[]... input) {
      this.input = new ByteArrayInputStream(join(input));
      this.pieces = pieces;
      this.interrupts = interrupts;
    }

    WebSocketFrames frames(int limit) {
      return new WebSocketFrames(new Input(this), new Output(this), limit, 0);
    }

    WebSocket socket(int limit) {
      return socket(limit, 0);
    }

    WebSocket socket(int limit, int deflateFrom) {
      return new WebSocket(
          new Upgraded(new Input(this), new Output(this), this),
          URI.create("/memory"),
          new Headers(),
          Optional.empty(),
          limit,
          deflateFrom);
    }

    byte[] written() {
      return output.toByteArray();
    }

    int writes() {
      return writes;
    }

    boolean isClosed() {
      return closed;
    }

    /** Returns the one frame that was sent. */
    Sent sent() throws IOException {
      InputStream all = new ByteArrayInputStream(written());
      Sent frame = Sent.read(all);
      if (all.read() >= 0) {
        throw new AssertionError("more was sent than " + frame);
      }
      return frame;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      if (closed) {
        throw new ClosedChannelException();
      }
      if (interrupts && pieces != null && pieces.nextInt(3) == 0) {
        throw new InterruptedIOException("for a test");
      }
      int most = pieces == null ? length : 1 + pieces.nextInt(length);
      return input.read(bytes, offset, Math.min(most, length));
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      if (closed) {
        throw new EOFException("closed");
      }
      writes++;
      output.write(bytes, offset, length);
    }

    @Override
    public void abort() {
      close();
    }

    @Override
    public void linger(long mostBytes) {}

    @Override
    public InetSocketAddress localAddress() {
      return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    }

    @Override
    public InetSocketAddress remoteAddress() {
      return new InetSocketAddress(InetAddress.getLoopbackAddress(), 2);
    }

    @Override
    public @Nullable SSLSession session() {
      return null;
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
