package dev.weft.internal.jdk;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelectionKey;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import sun.nio.ch.SelChImpl;

/**
 * Two things about the JDK's channels that they do not publish: the descriptor's number, and when a
 * channel is closed.
 */
public final class ChannelInternals {
  private ChannelInternals() {}

  /**
   * Returns the number of the channel's descriptor.
   *
   * @throws IllegalArgumentException if the channel is not one of the JDK's own
   */
  public static int descriptorOf(SelectableChannel channel) {
    return own(channel).getFDVal();
  }

  private static SelChImpl own(SelectableChannel channel) {
    RequiredFlags.check();
    if (channel instanceof SelChImpl own) {
      return own;
    }
    throw new IllegalArgumentException(
        "cannot watch " + channel + ": only channels that the JDK made have a descriptor");
  }

  /**
   * Calls back once when the channel is closed, on the thread that closes it and before its
   * descriptor is, until the watch is ended. The channel must be in non-blocking mode and stay so
   * meanwhile.
   */
  public static Watch watch(SelectableChannel channel, Runnable onClose)
      throws ClosedChannelException {
    own(channel);
    KeyOfWatch key = (KeyOfWatch) channel.register(new Watcher(), 0, onClose);
    return key::end;
  }

  /** A watch of a channel. */
  public interface Watch {
    /** Ends it; harmless if it has ended. */
    void end();
  }

  /**
   * A selector that selects nothing. The close of a channel cancels its keys, and the JDK closes
   * the descriptor only after the keys have been deregistered ({@code SelChImpl.kill}).
   */
  private static final class Watcher extends AbstractSelector {
    Watcher() {
      super(SelectorProvider.provider());
    }

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object onClose) {
      return new KeyOfWatch(this, channel, (Runnable) onClose);
    }

    void takeFromChannel(KeyOfWatch key) {
      deregister(key);
      if (!key.channel().isOpen() && !key.channel().isRegistered()) {
        try {
          own(key.channel()).kill();
        } catch (IOException e) {
          // the descriptor is closed all the same
        }
      }
    }

    @Override
    protected void implCloseSelector() {}

    @Override
    public Set<SelectionKey> keys() {
      return Set.of();
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
      return Set.of();
    }

    @Override
    public int selectNow() {
      return 0;
    }

    @Override
    public int select(long timeout) {
      return 0;
    }

    @Override
    public int select() {
      return 0;
    }

    @Override
    public int select(Consumer<SelectionKey> action, long timeout) {
      return 0;
    }

    @Override
    public Selector wakeup() {
      return this;
    }
  }

  private static final class KeyOfWatch extends AbstractSelectionKey {
    private final Watcher watcher;
    private final SelectableChannel channel;
    private final Runnable onClose;
    private final AtomicBoolean ended = new AtomicBoolean();

    KeyOfWatch(Watcher watcher, SelectableChannel channel, Runnable onClose) {
      this.watcher = watcher;
      this.channel = channel;
      this.onClose = onClose;
    }

    void end() {
      if (ended.compareAndSet(false, true)) {
        watcher.takeFromChannel(this);
      }
    }

    /**
     * Notices a cancel of the key: AbstractSelectionKey.cancel is final, but it makes the key
     * invalid and then adds it to a hash set of its selector, which calls this.
     */
    @Override
    public int hashCode() {
      if (!isValid() && ended.compareAndSet(false, true)) {
        onClose.run(); // first: the descriptor stays open until the key is deregistered
        watcher.takeFromChannel(this);
      }
      return System.identityHashCode(this);
    }

    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public SelectableChannel channel() {
      return channel;
    }

    @Override
    public Selector selector() {
      return watcher;
    }

    @Override
    public int interestOps() {
      return 0;
    }

    @Override
    public SelectionKey interestOps(int ops) {
      return this;
    }

    @Override
    public int readyOps() {
      return 0;
    }
  }
}
