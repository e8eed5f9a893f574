package dev.weft.internal.channel;

import dev.weft.channel.Channel;

/** What tests see of a channel beyond its public face. */
public final class ChannelInsides {
  private ChannelInsides() {}

  /** Returns whether no sender and no receiver is queued at the channel. */
  public static boolean hasNoWaiters(Channel<?> channel) {
    ChannelCore<?> core = (ChannelCore<?>) channel;
    return core.senders.isEmpty() && core.receivers.isEmpty();
  }

  /** Returns whether no callback for the end of the channel is left. */
  public static boolean hasNoWatchers(Channel<?> channel) {
    return ((ChannelCore<?>) channel).watchers.isEmpty();
  }
}
