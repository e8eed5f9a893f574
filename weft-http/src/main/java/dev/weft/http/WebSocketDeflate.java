package dev.weft.http;

import dev.weft.http.WebSocketExtensions.Offer;
import dev.weft.http.WebSocketFrames.Violation;
import java.net.ProtocolException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * The compression of messages, permessage-deflate: RFC 7692.
 *
 * <p>Neither side keeps a window from one message to the next ({@code no_context_takeover}). With
 * windows kept a connection would hold some 300 KB of zlib's memory; without, a message is inflated
 * or deflated at once, in one go and by borrowed state, and a connection at rest holds nothing. A
 * message that comes is inflated when all of it is there, so a slow client borrows nothing either.
 *
 * <p>The limits of a message are those of its inflated bytes, and inflating stops there.
 */
final class WebSocketDeflate {
  private static final String NAME = "permessage-deflate";
  private static final String SERVER_NO_TAKEOVER = "server_no_context_takeover";
  private static final String CLIENT_NO_TAKEOVER = "client_no_context_takeover";
  private static final String SERVER_BITS = "server_max_window_bits";
  private static final String CLIENT_BITS = "client_max_window_bits";

  /** The window of java.util.zip, which cannot be made smaller, as a power of two. */
  private static final String WINDOW_BITS = "15";

  /** What a flush ends with, which is not sent: section 7.2.1. */
  private static final int FLUSHED = 4;

  /**
   * What is put behind a message when it has been inflated: the end of a flush, section 7.2.2, and
   * an empty last block. Inflating comes to its end with that, and with no further content, if and
   * only if the message is whole.
   */
  private static final byte[] TAIL = {0, 0, -1, -1, 1, 0, 0, -1, -1};

  private static final int LEAST_ROOM = 256;

  /** How many streams a message may have: an empty one takes two bytes, and time. */
  private static final int MOST_STREAMS = 16;

  private static final int KEPT = Runtime.getRuntime().availableProcessors();
  private static final ArrayBlockingQueue<Inflater> INFLATERS = new ArrayBlockingQueue<>(KEPT);
  private static final ArrayBlockingQueue<Deflater> DEFLATERS = new ArrayBlockingQueue<>(KEPT);

  private WebSocketDeflate() {}

  // ---- agreeing on it ----

  /**
   * Returns what to answer to a client's offers, RFC 7692, section 5.1: the first that can be
   * accepted, or empty if none can.
   *
   * @param lines of Sec-WebSocket-Extensions
   * @throws ProtocolException if they are malformed
   */
  static Optional<String> answer(@Nullable List<String> lines) throws ProtocolException {
    return WebSocketExtensions.parse(lines).stream()
        .filter(WebSocketDeflate::isAcceptable)
        .findFirst()
        .map(offer -> ANSWER);
  }

  private static final String ANSWER = NAME + "; " + SERVER_NO_TAKEOVER + "; " + CLIENT_NO_TAKEOVER;

  private static boolean isAcceptable(Offer offer) {
    return offer.name().equals(NAME)
        && offer.parameters().entrySet().stream()
            .allMatch(one -> isAcceptable(one.getKey(), one.getValue()));
  }

  /** Any window of the client's can be inflated; the server's cannot be smaller than it is. */
  private static boolean isAcceptable(String parameter, String value) {
    return switch (parameter) {
      case SERVER_NO_TAKEOVER, CLIENT_NO_TAKEOVER -> value.isEmpty();
      case SERVER_BITS -> value.equals(WINDOW_BITS);
      case CLIENT_BITS -> value.isEmpty() || value.matches("[89]|1[0-5]");
      default -> false;
    };
  }

  // ---- inflating ----

  /**
   * Returns what was compressed.
   *
   * @param limit how many bytes that may be
   * @throws Violation if it is more, or nothing that was compressed
   */
  static byte[] inflate(byte[] compressed, int length, int limit) throws Violation {
    @Nullable Inflater free = INFLATERS.poll();
    Inflater inflater = free != null ? free : new Inflater(true);
    try {
      return inflate(inflater, compressed, length, limit);
    } catch (DataFormatException e) {
      throw new Violation(WebSocketClose.PROTOCOL_ERROR, "a message cannot be decompressed");
    } finally {
      inflater.reset();
      if (!INFLATERS.offer(inflater)) {
        inflater.end();
      }
    }
  }

  private static byte[] inflate(Inflater inflater, byte[] compressed, int length, int limit)
      throws Violation, DataFormatException {
    byte[] input = compressed;
    int end = length;
    inflater.setInput(input, 0, end);
    int most = Math.min(limit, Integer.MAX_VALUE - LEAST_ROOM) + 1; // one more, to be noticed
    byte[] result = new byte[(int) Math.min(most, Math.max(LEAST_ROOM, 4L * length))];
    int size = 0;
    for (int streams = 1; streams <= MOST_STREAMS; ) {
      if (size == result.length) {
        result = Arrays.copyOf(result, (int) Math.min(most, 2L * size));
      }
      int count = inflater.inflate(result, size, result.length - size);
      size += count;
      if (count > 0 && input == TAIL) {
        throw new DataFormatException("the message ends in the middle of a block");
      }
      if (size == most) {
        throw new Violation(
            WebSocketClose.TOO_LARGE, "a message has more than " + limit + " bytes");
      }
      if (inflater.finished()) { // a sender may end its stream and begin another: section 7.2.3.4
        int left = inflater.getRemaining();
        if (left == 0 && input == TAIL) {
          return Arrays.copyOf(result, size);
        }
        inflater.reset();
        inflater.setInput(input, end - left, left);
        streams++;
      } else if (count == 0 && inflater.needsInput()) {
        if (input == TAIL) {
          throw new DataFormatException("the message ends in the middle of a block");
        }
        input = TAIL;
        end = TAIL.length;
        inflater.setInput(input, 0, end);
      }
    }
    throw new DataFormatException("more than " + MOST_STREAMS + " streams");
  }

  // ---- deflating ----

  /** Returns it compressed, or null if that would not be shorter. */
  static byte @Nullable [] deflate(byte[] payload) {
    @Nullable Deflater free = DEFLATERS.poll();
    Deflater deflater = free != null ? free : new Deflater(Deflater.BEST_SPEED, true);
    try {
      deflater.setInput(payload);
      byte[] result = new byte[Math.max(LEAST_ROOM, payload.length / 2)];
      int size = 0;
      while (true) {
        size += deflater.deflate(result, size, result.length - size, Deflater.SYNC_FLUSH);
        if (size < result.length) {
          int length = size - FLUSHED;
          return length < payload.length ? Arrays.copyOf(result, length) : null;
        }
        if (size >= payload.length + FLUSHED) {
          return null;
        }
        result = Arrays.copyOf(result, payload.length + FLUSHED + 1);
      }
    } finally {
      deflater.reset();
      if (!DEFLATERS.offer(deflater)) {
        deflater.end();
      }
    }
  }
}
