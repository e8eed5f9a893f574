package dev.weft.io;

import dev.weft.internal.FiberAccess;
import dev.weft.internal.IoWaits;
import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SelectableChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One call of {@link IoManager#awaitAny}: a thread that waits for the first of many channels.
 *
 * <p>Invariants: the first event to fire sets {@link #chosen} and unparks the thread; later events
 * change nothing. Whatever way the call ends, each event it has added has fired or is withdrawn, so
 * that none stays registered or pending. An event that fires beside the chosen one is not lost: an
 * event says that the channel is ready now, and the next registration finds it so.
 */
final class FirstReady<C extends SelectableChannel> implements IoWaits.Event {
  private final IoManager manager;
  private final IoEvent event;
  private final Thread thread = Thread.currentThread();
  private final Collection<C> channels;
  private final List<OneChannel> added;
  private final AtomicReference<@Nullable C> chosen = new AtomicReference<>();

  FirstReady(IoManager manager, Collection<C> channels, IoEvent event) {
    this.manager = manager;
    this.event = event;
    this.channels = new LinkedHashSet<>(channels);
    this.added = new ArrayList<>(this.channels.size());
    if (this.channels.isEmpty()) {
      throw new IllegalArgumentException("awaitAny needs at least one channel to wait for");
    }
  }

  Optional<C> await(Duration limit) throws IOException, InterruptedException {
    try {
      for (C channel : channels) {
        OneChannel listener = new OneChannel(channel);
        manager.tryAdd(channel, event, listener);
        added.add(listener);
      }
      manager.park(this, limit);
    } finally {
      added.forEach(OneChannel::withdraw);
    }
    C first = chosen.get();
    if (first != null && !first.isOpen()) {
      throw new AsynchronousCloseException();
    }
    return Optional.ofNullable(first);
  }

  @Override
  public boolean hasCome() {
    return chosen.get() != null;
  }

  @Override
  public String toString() {
    return event + " of any of " + channels.size() + " channels";
  }

  /** The event of one of the channels. */
  private final class OneChannel implements IoManager.Listener {
    private final C channel;

    OneChannel(C channel) {
      this.channel = channel;
    }

    @Override
    public void fire() {
      if (chosen.compareAndSet(null, channel)) {
        FiberAccess.unpark(thread);
      }
    }

    void withdraw() {
      manager.withdraw(channel, event, this);
    }
  }
}
