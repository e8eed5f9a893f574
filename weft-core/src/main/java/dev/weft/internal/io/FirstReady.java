package dev.weft.internal.io;

import dev.weft.internal.poller.ReadyEvent;
import dev.weft.io.IoEvent;
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
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One call of {@link IoManagerCore#awaitAny}: a thread that waits for the first of many channels.
 *
 * <p>Invariants: the first event to fire sets {@link #chosen} and unparks the thread; later events
 * change nothing. However the call ends, each event that it has added has fired or is withdrawn, so
 * that none stays registered or pending. A second event that fires is not lost: it says that its
 * channel is ready, and the next registration of that channel fires at once.
 */
final class FirstReady<C extends SelectableChannel> implements ReadyEvent {
  private final IoManagerCore manager;
  private final IoEvent event;
  private final Thread thread = Thread.currentThread();
  private final Collection<C> channels;
  private final List<OneChannel> added;
  private final AtomicReference<@Nullable C> chosen = new AtomicReference<>();

  FirstReady(IoManagerCore manager, Collection<C> channels, IoEvent event) {
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
  private final class OneChannel implements IoManagerCore.Listener {
    private final C channel;

    OneChannel(C channel) {
      this.channel = channel;
    }

    @Override
    public void fire() {
      if (chosen.compareAndSet(null, channel)) {
        LockSupport.unpark(thread);
      }
    }

    void withdraw() {
      manager.withdraw(channel, event, this);
    }
  }
}
