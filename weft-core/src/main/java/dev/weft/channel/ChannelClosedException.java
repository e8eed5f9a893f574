package dev.weft.channel;

import org.jspecify.annotations.Nullable;

/**
 * Says that a channel has been closed, so that nothing can be sent to it, or that it has been
 * closed and is empty, so that nothing will be received from it. Its cause is what the channel was
 * {@linkplain Channel#closeWithError closed with}, if anything.
 */
public final class ChannelClosedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * Creates an exception.
   *
   * @param cause what the channel was closed with, or null
   */
  public ChannelClosedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
