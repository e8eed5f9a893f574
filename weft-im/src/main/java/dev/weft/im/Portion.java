package dev.weft.im;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lines that an {@link Outbox} writes at once.
 *
 * @param messages the messages that end in it, in order
 * @param account that its cost was counted for
 * @param counts whether its messages are delivered when they are written
 * @param ping whether the client is pinged first
 */
record Portion(
    List<String> lines,
    List<MessageEnd> messages,
    LineBudget.@Nullable Account account,
    long cost,
    boolean counts,
    boolean ping) {
  /**
   * The end of a message.
   *
   * @param lines how many there are up to its last one
   */
  record MessageEnd(int lines, long id) {}

  /** Returns the last message that is delivered if so many lines were written, or 0. */
  long lastMessage(int written) {
    long last = 0;
    for (MessageEnd message : messages) {
      if (message.lines() <= written) {
        last = message.id();
      }
    }
    return counts ? last : 0;
  }
}
