package dev.weft.im;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A message that is stored.
 *
 * @param id larger than the id of every message that was stored before
 * @param time in milliseconds since 1970
 * @param room that the message was said in, or null if the message is direct
 * @param recipient of a direct message, or null if the message was said in a room
 */
record Message(
    long id,
    long time,
    @Nullable String room,
    String sender,
    @Nullable String recipient,
    String text) {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  /**
   * A message that is not stored yet.
   *
   * @param room as in a message
   * @param recipient as in a message
   */
  record Draft(@Nullable String room, String sender, @Nullable String recipient, String text) {}

  /** Returns the line for a receiver. */
  String lineFor(String receiver) {
    String place = room != null ? room : "@" + (sender.equals(receiver) ? recipient : sender);
    String at = TIME.format(Instant.ofEpochMilli(time));
    return "MSG " + id + " " + at + " " + place + " " + sender + " " + text;
  }
}
