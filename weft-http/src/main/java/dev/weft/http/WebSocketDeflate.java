package dev.weft.http;

import dev.weft.http.WebSocketFrames.Violation;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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

  /** What a flush ends with; it is not sent, and put back before inflating: section 7.2. */
  private static final byte[] TAIL = {0, 0, (byte) 0xFF, (byte) 0xFF};

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
   * @param offers the elements of Sec-WebSocket-Extensions, in the client's order
   */
  static Optional<String> answer(List<String> offers) {
    return offers.stream().filter(WebSocketDeflate::isAcceptable).findFirst().map(offer -> ANSWER);
  }

  private static final String ANSWER = NAME + "; " + SERVER_NO_TAKEOVER + "; " + CLIENT_NO_TAKEOVER;

  private static boolean isAcceptable(String offer) {
    String[] parts = offer.split(";", -1);
    if (!parts[0].strip().equalsIgnoreCase(NAME)) {
      return false;
    }
    Map<String, String> parameters = new HashMap<>();
    for (String part : Arrays.asList(parts).subList(1, parts.length)) {
      String[] pair = part.split("=", 2);
      String value = pair.length == 1 ? "" : unquoted(pair[1].strip());
      if (parameters.put(pair[0].strip().toLowerCase(Locale.ROOT), value) != null) {
        return false; // twice
      }
    }
    return parameters.entrySet().stream()
        .allMatch(one -> isAcceptable(one.getKey(), one.getValue()));
  }

  private static String unquoted(String value) {
    return value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"")
        ? value.substring(1, value.length() - 1)
        : value;
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
    byte[] all = Arrays.copyOf(compressed, length + TAIL.length);
    System.arraycopy(TAIL, 0, all, length, TAIL.length);
    inflater.setInput(all);
    int most = Math.min(limit, Integer.MAX_VALUE - LEAST_ROOM) + 1; // one more, to be noticed
    byte[] result = new byte[(int) Math.min(most, Math.max(LEAST_ROOM, 4L * length))];
    int size = 0;
    for (int streams = 1; streams <= MOST_STREAMS; ) {
      if (size > limit) {
        throw new Violation(
            WebSocketClose.TOO_LARGE, "a message has more than " + limit + " bytes");
      }
      if (size == result.length) {
        result = Arrays.copyOf(result, (int) Math.min(most, 2L * size));
      }
      int count = inflater.inflate(result, size, result.length - size);
      size += count;
      if (inflater.finished()) { // a sender may end its stream and begin another: section 7.2.3.4
        int left = inflater.getRemaining();
        inflater.reset();
        inflater.setInput(all, all.length - left, left);
        streams++;
      }
      if (count == 0 && inflater.needsInput()) {
        return Arrays.copyOf(result, size);
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
          int length = size - TAIL.length;
          return length < payload.length ? Arrays.copyOf(result, length) : null;
        }
        if (size >= payload.length + TAIL.length) {
          return null;
        }
        result = Arrays.copyOf(result, payload.length + TAIL.length + 1);
      }
    } finally {
      deflater.reset();
      if (!DEFLATERS.offer(deflater)) {
        deflater.end();
      }
    }
  }
}
