package dev.weft.http;

import dev.weft.http.WebSocketFrames.Violation;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Why a WebSocket was closed: what a close frame says.
 *
 * @param code of RFC 6455, section 7.4
 * @param reason for people; may be empty
 */
record WebSocketClose(int code, String reason) {
  static final int NORMAL = 1000;
  static final int GOING_AWAY = 1001;
  static final int PROTOCOL_ERROR = 1002;
  static final int NOT_ACCEPTED = 1003;

  /** There was a close frame without a code; never sent. */
  static final int NO_CODE = 1005;

  /** There was no close frame; never sent. */
  static final int ABNORMAL = 1006;

  static final int NOT_UTF_8 = 1007;
  static final int TOO_LARGE = 1009;
  static final int FAILED = 1011;

  /** How long a reason may be, in bytes: a control frame has 125, and the code takes two. */
  static final int MOST_REASON = WebSocketFrames.MOST_CONTROL - 2;

  private static final int LAST_OF_PROTOCOL = 1014;
  private static final int FIRST_OF_PROGRAMS = 3000;
  private static final int LAST_OF_PROGRAMS = 4999;

  /**
   * Creates what this side wants to say.
   *
   * @throws IllegalArgumentException if that cannot be sent
   */
  static WebSocketClose checked(int code, String reason) {
    if (!isSendable(code)) {
      throw new IllegalArgumentException(
          "a WebSocket is closed with 1000 to 1003, 1007 to 1014 or 3000 to 4999, not " + code);
    }
    int length = reason.getBytes(StandardCharsets.UTF_8).length;
    if (length > MOST_REASON) {
      throw new IllegalArgumentException(
          "the reason of a close takes at most %d bytes in UTF-8, not %d"
              .formatted(MOST_REASON, length));
    }
    return new WebSocketClose(code, reason);
  }

  /** Reads the payload of a close frame. */
  static WebSocketClose of(byte[] payload) throws Violation {
    if (payload.length == 0) {
      return new WebSocketClose(NO_CODE, "");
    }
    if (payload.length == 1) {
      throw new Violation(PROTOCOL_ERROR, "a close frame has half a code");
    }
    int code = ((payload[0] & 0xFF) << 8) | (payload[1] & 0xFF);
    if (!isSendable(code)) {
      throw new Violation(PROTOCOL_ERROR, "a close frame has the code " + code);
    }
    byte[] reason = Arrays.copyOfRange(payload, 2, payload.length);
    return new WebSocketClose(code, WebSocketFrames.decode(reason));
  }

  private static boolean isSendable(int code) {
    return (code >= NORMAL && code <= NOT_ACCEPTED)
        || (code >= NOT_UTF_8 && code <= LAST_OF_PROTOCOL)
        || (code >= FIRST_OF_PROGRAMS && code <= LAST_OF_PROGRAMS);
  }

  /** Returns the payload of a close frame that says this. */
  byte[] payload() {
    if (code == NO_CODE || code == ABNORMAL) {
      return new byte[0];
    }
    byte[] words = reason.getBytes(StandardCharsets.UTF_8);
    byte[] payload = new byte[2 + words.length];
    payload[0] = (byte) (code >> 8);
    payload[1] = (byte) code;
    System.arraycopy(words, 0, payload, 2, words.length);
    return payload;
  }

  @Override
  public String toString() {
    return reason.isEmpty() ? Integer.toString(code) : code + " " + reason;
  }
}
