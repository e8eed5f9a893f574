package dev.weft.internal.channel;

import dev.weft.channel.Channel;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Receives from a channel until the channel is closed; takes a value no sooner than its caller
 * asks.
 */
final class ChannelIterator<T> implements Iterator<T> {
  private final Channel<T> channel;
  private @Nullable T next;

  ChannelIterator(Channel<T> channel) {
    this.channel = channel;
  }

  @Override
  public boolean hasNext() {
    if (next == null) {
      try {
        next = channel.receiveOrClosed().orElse(null);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        CancellationException ended =
            new CancellationException("interrupted while it received from " + channel);
        ended.initCause(e);
        throw ended;
      }
    }
    return next != null;
  }

  @Override
  public T next() {
    if (!hasNext()) {
      throw new NoSuchElementException(channel + " is closed");
    }
    T value = next;
    next = null;
    return value;
  }
}
