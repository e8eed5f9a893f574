package dev.weft.http;

import java.io.EOFException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.ProtocolException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The frames of a WebSocket, RFC 6455, section 5: those of a client are read, a server's written.
 *
 * <pre>
 *   ┌─────┬─────┬────────┬──────┬─────────┬──────────────┬─────────┬─────────────┐
 *   │ fin │ rsv │ opcode │ mask │ length  │ more length  │   key   │   payload   │
 *   │  1  │  3  │    4   │   1  │    7    │ 0, 16 or 64  │ 0 or 32 │     ...     │
 *   └─────┴─────┴────────┴──────┴─────────┴──────────────┴─────────┴─────────────┘
 * </pre>
 *
 * <p>Invariants of reading:
 *
 * <ul>
 *   <li>A header is taken when all of it is there, and what has come of a payload is kept here. So
 *       a read that fails while it waits, by an interrupt, can be called again and goes on.
 *   <li>{@code size <= message.length <= most()}; the array grows with what comes, not with what is
 *       announced.
 *   <li>{@code 0 <= done <= length}; {@code done < length} only in the middle of a frame.
 * </ul>
 */
final class WebSocketFrames {
  static final int CONTINUATION = 0;
  static final int TEXT = 1;
  static final int BINARY = 2;
  static final int CLOSE = 8;
  static final int PING = 9;
  static final int PONG = 10;

  /** How many bytes a control frame may have. */
  static final int MOST_CONTROL = 125;

  private static final int FIN = 0x80;
  private static final int COMPRESSED = 0x40;
  private static final int RESERVED = 0x30;
  private static final int OPCODE = 0x0F;
  private static final int MASKED = 0x80;
  private static final int LENGTH = 0x7F;
  private static final int LENGTH_OF_2 = 126;
  private static final int LENGTH_OF_8 = 127;
  private static final int SIZE_OF_KEY = 4;

  /** So much of an announced payload gets its room before any of it has come. */
  private static final int BELIEVED = 64 * 1024;

  /** How long a compressed message may be at all: an array, with room for its end. */
  private static final long LONGEST = Integer.MAX_VALUE - 64;

  private static final byte[] NOTHING = {};
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** A whole message, of whatever many frames, or a control frame. */
  @SuppressWarnings("ArrayRecordComponent") // handed over, not compared
  record Frame(int opcode, byte[] payload) {}

  /** What the other side must not do; a close frame tells it so. */
  static final class Violation extends ProtocolException {
    private static final long serialVersionUID = 1;

    private final int code;

    Violation(int code, String message) {
      super(message);
      this.code = code;
    }

    WebSocketClose close() {
      return new WebSocketClose(code, String.valueOf(getMessage()));
    }
  }

  private final Input input;
  private final Output output;
  private final int limit;
  private final int deflateFrom;

  // the frame under way, or the last one; the first byte of the key is the lowest
  private int opcode;
  private boolean last;
  private int key;
  private int length;
  private int done;
  private boolean inFrame;

  // the message under way; CONTINUATION if there is none
  private int kind = CONTINUATION;
  private boolean compressed;
  private byte[] message = NOTHING;
  private int size;
  private final Utf8Check text = new Utf8Check();

  // the control frame under way
  private byte[] control = NOTHING;

  /**
   * Creates it.
   *
   * @param limit how many bytes a message may have
   * @param deflateFrom how many bytes make a message be compressed; 0 if the two sides have not
   *     agreed on {@link WebSocketDeflate}
   */
  WebSocketFrames(Input input, Output output, int limit, int deflateFrom) {
    this.input = input;
    this.output = output;
    this.limit = limit;
    this.deflateFrom = deflateFrom;
  }

  // ---- reading ----

  /**
   * Waits for the next message or control frame; null at the end of the connection. The payload of
   * a text is UTF-8.
   *
   * @throws Violation if the other side breaks the rules; nothing can be read after that
   * @throws EOFException if the connection ends in the middle
   */
  @Nullable Frame read() throws IOException {
    while (inFrame || readHeader()) {
      readPayload();
      inFrame = false;
      if (opcode >= CLOSE) {
        return new Frame(opcode, control);
      }
      if (last) {
        Frame whole = new Frame(kind, compressed ? inflated() : plain());
        kind = CONTINUATION;
        message = NOTHING;
        size = 0;
        return whole;
      }
    }
    return null;
  }

  private byte[] plain() throws Violation {
    if (kind == TEXT && !text.isComplete()) {
      throw notText();
    }
    return size == message.length ? message : Arrays.copyOf(message, size);
  }

  private byte[] inflated() throws Violation {
    byte[] inflated = WebSocketDeflate.inflate(message, size, limit);
    if (kind == TEXT && !Utf8Check.isText(inflated)) {
      throw notText();
    }
    return inflated;
  }

  private static Violation notText() {
    return new Violation(WebSocketClose.NOT_UTF_8, "a text is not UTF-8");
  }

  /** Returns false if there is no further frame. */
  private boolean readHeader() throws IOException {
    if (!await(2)) {
      if (!input.isEmpty() || kind != CONTINUATION) {
        throw new EOFException("the other side has ended in the middle of a message");
      }
      return false;
    }
    int first = input.bytes()[input.start()];
    int second = input.bytes()[input.start() + 1];
    check(first, second);
    int form = second & LENGTH;
    int extra = form == LENGTH_OF_2 ? 2 : form == LENGTH_OF_8 ? 8 : 0;
    if (!await(2 + extra + SIZE_OF_KEY)) {
      throw new EOFException("the other side has ended in the middle of a frame");
    }
    long announced = extra == 0 ? form : lengthOf(extra);
    boolean isControl = opcodeOf(first) >= CLOSE;
    if (!isControl && opcodeOf(first) != CONTINUATION) {
      compressed = (first & COMPRESSED) != 0;
    }
    if (!isControl && announced > most() - size) {
      throw new Violation(WebSocketClose.TOO_LARGE, "a message has more than " + limit + " bytes");
    }
    opcode = opcodeOf(first);
    last = (first & FIN) != 0;
    key = Integer.reverseBytes((int) bigEndian(2 + extra, SIZE_OF_KEY));
    length = (int) announced;
    done = 0;
    inFrame = true;
    input.take(2 + extra + SIZE_OF_KEY);
    if (isControl) {
      control = new byte[length];
    } else if (opcode != CONTINUATION) {
      kind = opcode;
    }
    return true;
  }

  private static int opcodeOf(int first) {
    return first & OPCODE;
  }

  /** How many bytes may come; what cannot be compressed gets a little longer by the attempt. */
  private long most() {
    return compressed ? Math.min(LONGEST, (long) limit + (limit >> 8) + 64) : limit;
  }

  /** Looks at the first two bytes of a header. */
  private void check(int first, int second) throws Violation {
    int next = opcodeOf(first);
    boolean mayBeCompressed = deflateFrom > 0 && (next == TEXT || next == BINARY);
    if ((first & (mayBeCompressed ? RESERVED : RESERVED | COMPRESSED)) != 0) {
      throw violation("a frame has reserved bits set");
    }
    if ((second & MASKED) == 0) {
      throw violation("a frame is not masked");
    }
    switch (next) {
      case CONTINUATION -> {
        if (kind == CONTINUATION) {
          throw violation("a continuation continues nothing");
        }
      }
      case TEXT, BINARY -> {
        if (kind != CONTINUATION) {
          throw violation("a message begins inside another one");
        }
      }
      case CLOSE, PING, PONG -> {
        if ((first & FIN) == 0) {
          throw violation("a control frame is fragmented");
        }
        if ((second & LENGTH) > MOST_CONTROL) {
          throw violation("a control frame has more than 125 bytes");
        }
      }
      default -> throw violation("a frame has the reserved opcode " + next);
    }
  }

  /** Returns the length that is told in so many bytes. */
  private long lengthOf(int bytes) throws Violation {
    long announced = bigEndian(2, bytes);
    if (announced < 0) {
      throw violation("a frame has a length of 64 bits");
    }
    if (announced < (bytes == 2 ? LENGTH_OF_2 : 1 << 16)) {
      throw violation("a frame tells its length in more bytes than it needs");
    }
    return announced;
  }

  private long bigEndian(int from, int count) {
    long value = 0;
    for (int i = 0; i < count; i++) {
      value = (value << 8) | (input.bytes()[input.start() + from + i] & 0xFF);
    }
    return value;
  }

  private static Violation violation(String message) {
    return new Violation(WebSocketClose.PROTOCOL_ERROR, message);
  }

  /** Waits until so many bytes can be looked at; returns false if the end comes before. */
  private boolean await(int count) throws IOException {
    while (input.end() - input.start() < count) {
      if (!input.more()) {
        return false;
      }
    }
    return true;
  }

  private void readPayload() throws IOException {
    if (opcode >= CLOSE) {
      while (done < length) {
        done += fill(control, done, length - done);
      }
      return;
    }
    while (done < length) {
      if (size == message.length) {
        message = Arrays.copyOf(message, nextSize());
      }
      int count = fill(message, size, Math.min(length - done, message.length - size));
      if (kind == TEXT && !compressed && !text.accepts(message, size, count)) {
        throw notText();
      }
      done += count;
      size += count;
    }
  }

  /**
   * Returns the room that the message is to have now: for the whole frame, unless that is long and
   * has yet to come; and so much more, if other frames follow, that many short ones cost no more.
   */
  private int nextSize() {
    long needed = size + (long) (length - done);
    long wanted = last ? needed : Math.min(most(), Math.max(needed, 2L * size));
    return (int) Math.min(wanted, size + (long) Math.max(size, BELIEVED));
  }

  /** Reads some of a payload; returns how much. */
  private int fill(byte[] target, int offset, int most) throws IOException {
    int count = input.read(target, offset, most);
    if (count < 0) {
      throw new EOFException("the other side has ended in the middle of a frame");
    }
    mask(target, offset, count, Integer.rotateRight(key, 8 * (done & 3)));
    return count;
  }

  /** Masks bytes, or unmasks them, in place. */
  static void mask(byte[] bytes, int offset, int count, int key) {
    long twice = (key & 0xFFFF_FFFFL) | ((long) key << 32);
    int i = 0;
    for (; i <= count - Long.BYTES; i += Long.BYTES) {
      LONGS.set(bytes, offset + i, (long) LONGS.get(bytes, offset + i) ^ twice);
    }
    for (; i < count; i++) {
      bytes[offset + i] ^= (byte) (key >>> (8 * (i & 3)));
    }
  }

  /** Takes whatever comes, until the end. */
  void skipAll() throws IOException {
    do {
      input.take(input.end() - input.start());
    } while (input.more());
  }

  /** Returns the text that the bytes are in UTF-8. */
  static String decode(byte[] bytes) throws Violation {
    if (!Utf8Check.isText(bytes)) {
      throw notText();
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }

  // ---- writing ----

  /** Sends a message or control frame, in one frame. */
  void write(int kindOfFrame, byte[] payload) throws IOException {
    if (deflateFrom > 0 && kindOfFrame < CLOSE && payload.length >= deflateFrom) {
      byte[] shorter = WebSocketDeflate.deflate(payload);
      if (shorter != null) {
        writeFrame(FIN | COMPRESSED | kindOfFrame, shorter);
        return;
      }
    }
    writeFrame(FIN | kindOfFrame, payload);
  }

  private void writeFrame(int first, byte[] payload) throws IOException {
    int count = payload.length;
    output.write(first);
    if (count < LENGTH_OF_2) {
      output.write(count);
    } else if (count < 1 << 16) {
      output.write(LENGTH_OF_2);
      output.write(count >> 8);
      output.write(count);
    } else {
      output.write(LENGTH_OF_8);
      for (int shift = 56; shift >= 0; shift -= 8) {
        output.write((int) ((long) count >> shift));
      }
    }
    output.write(payload, 0, count);
    output.flush();
  }
}
