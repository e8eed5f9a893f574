package dev.weft.internal.io;

import dev.weft.internal.jdk.ChannelInternals;
import dev.weft.internal.poller.EpollPoller;
import dev.weft.internal.poller.LinuxCalls;
import dev.weft.internal.poller.NioPoller;
import dev.weft.internal.poller.Pollable;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.switching.Pinning;
import dev.weft.io.IoEvent;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import org.jspecify.annotations.Nullable;

/**
 * A channel or descriptor that has events, registered with one poller.
 *
 * <p>Invariants, between synchronized blocks:
 *
 * <ul>
 *   <li>The poller watches it for exactly those directions that have a listener.
 *   <li>It is dead if it has no listener (with NIO: and the channel is closed). Then it is and
 *       stays registered nowhere, and the next event makes a new Watched. So a late event of the
 *       poller finds no listener.
 *   <li>The thread that removes a listener fires it or does not, once.
 *   <li>A fiber is pinned while it has the monitor or waits for it: a polling worker enters it on
 *       its own thread, and must not wait for a fiber that only this worker can run.
 * </ul>
 */
abstract class Watched extends Pollable {
  final Object key;
  private final IoManagerCore manager;
  private IoManagerCore.@Nullable Listener reader;
  private IoManagerCore.@Nullable Listener writer;
  private ChannelInternals.@Nullable Watch closing;
  private boolean dead;

  private Watched(IoManagerCore manager, Object key) {
    this.manager = manager;
    this.key = key;
  }

  static Watched of(IoManagerCore manager, Object key, Poller poller) {
    return poller instanceof EpollPoller epoll
        ? new ByEpoll(manager, key, epoll)
        : new ByNio(manager, (SelectableChannel) key, (NioPoller) poller);
  }

  /** Adds an event; returns false if it is dead. */
  final boolean add(IoEvent event, IoManagerCore.Listener listener) throws IOException {
    boolean pinned = Pinning.begin();
    try {
      return addPinned(event, listener);
    } finally {
      Pinning.end(pinned);
    }
  }

  private synchronized boolean addPinned(IoEvent event, IoManagerCore.Listener listener)
      throws IOException {
    if (dead) {
      return false;
    }
    if ((event == IoEvent.READ ? reader : writer) != null) {
      throw new IllegalStateException(
          "cannot add %s to %s: it is there already".formatted(event, IoManagerCore.describe(key)));
    }
    int before = directions();
    set(event, listener);
    try {
      if (closing == null && key instanceof SelectableChannel channel) {
        closing = ChannelInternals.watch(channel, this::closed);
      }
      watch(before, directions());
    } catch (Throwable e) {
      set(event, null);
      if (before == 0) {
        die();
      }
      throw e;
    }
    return true;
  }

  /** Removes an event and returns its listener; null if there is none. */
  final IoManagerCore.@Nullable Listener take(IoEvent event) {
    return takeIf(event, null);
  }

  /** The same, but if expected is not null only the event of that listener. */
  final IoManagerCore.@Nullable Listener takeIf(
      IoEvent event, IoManagerCore.@Nullable Listener expected) {
    boolean pinned = Pinning.begin();
    try {
      return takePinned(event, expected);
    } finally {
      Pinning.end(pinned);
    }
  }

  private synchronized IoManagerCore.@Nullable Listener takePinned(
      IoEvent event, IoManagerCore.@Nullable Listener expected) {
    IoManagerCore.Listener listener = event == IoEvent.READ ? reader : writer;
    if (listener == null || (expected != null && listener != expected)) {
      return null;
    }
    set(event, null);
    rewatch(directions() | bit(event));
    return listener;
  }

  @Override
  protected final void onReady(int ready, boolean ended) {
    IoManagerCore.Listener toRead;
    IoManagerCore.Listener toWrite;
    boolean pinned = Pinning.begin(); // a fiber that closes the channel comes here too
    try {
      synchronized (this) {
        if (dead) {
          return;
        }
        int before = directions();
        toRead = (ready & Poller.READ) != 0 ? reader : null;
        toWrite = (ready & Poller.WRITE) != 0 ? writer : null;
        reader = toRead != null ? null : reader;
        writer = toWrite != null ? null : writer;
        rewatch(before);
      }
    } finally {
      Pinning.end(pinned);
    }
    try {
      manager.end(toRead, true);
    } finally {
      manager.end(toWrite, true);
    }
  }

  /** Called by the thread that closes the channel. */
  private void closed() {
    onReady(Poller.BOTH, true);
    afterClose();
  }

  private int directions() {
    return (reader != null ? Poller.READ : 0) | (writer != null ? Poller.WRITE : 0);
  }

  private static int bit(IoEvent event) {
    return event == IoEvent.READ ? Poller.READ : Poller.WRITE;
  }

  private void set(IoEvent event, IoManagerCore.@Nullable Listener listener) {
    if (event == IoEvent.READ) {
      reader = listener;
    } else {
      writer = listener;
    }
  }

  private void rewatch(int before) {
    int left = directions();
    if (left == 0) {
      unwatch();
      if (!staysRegistered()) {
        die();
      }
    } else {
      try {
        watch(before, left);
      } catch (IOException e) {
        // closed meanwhile: the closing thread fires the rest in closed()
      }
    }
  }

  private void die() {
    dead = true;
    manager.forget(this);
    if (closing != null) {
      closing.end();
      closing = null;
    }
  }

  /** Has the poller send one event for these directions; before it watched the former ones. */
  abstract void watch(int before, int directions) throws IOException;

  abstract void unwatch();

  /** Returns whether it lives on without listeners, until the channel is closed. */
  boolean staysRegistered() {
    return false;
  }

  void afterClose() {}

  private static final class ByEpoll extends Watched {
    private final EpollPoller poller;
    private final int fd;

    ByEpoll(IoManagerCore manager, Object key, EpollPoller poller) {
      super(manager, key);
      this.poller = poller;
      this.fd =
          key instanceof SelectableChannel channel
              ? ChannelInternals.descriptorOf(channel)
              : (Integer) key;
    }

    @Override
    void watch(int before, int directions) throws IOException {
      int interest =
          EpollPoller.ONE_SHOT
              | ((directions & Poller.READ) != 0 ? EpollPoller.IN | EpollPoller.PEER_ENDED : 0)
              | ((directions & Poller.WRITE) != 0 ? EpollPoller.OUT : 0);
      int result = before == 0 ? poller.add(this, fd, interest) : poller.modify(this, fd, interest);
      if (result < 0) {
        throw failure(-result);
      }
    }

    private IOException failure(int errno) {
      String what = "cannot watch " + IoManagerCore.describe(key) + ": ";
      return switch (errno) {
        case LinuxCalls.EBADF -> {
          if (key instanceof Integer) {
            throw new IllegalArgumentException(what + "it is not open");
          }
          yield new ClosedChannelException();
        }
        case LinuxCalls.EPERM ->
            throw new IllegalArgumentException(
                what + "it is a file or the like, which is always ready");
        case LinuxCalls.EEXIST ->
            throw new IllegalStateException(what + "its descriptor has events already");
        default -> new IOException(what + LinuxCalls.describe(errno));
      };
    }

    @Override
    void unwatch() {
      poller.remove(this, fd);
    }
  }

  private static final class ByNio extends Watched {
    private final SelectableChannel channel;
    private final NioPoller poller;
    private @Nullable SelectionKey selectionKey;

    ByNio(IoManagerCore manager, SelectableChannel channel, NioPoller poller) {
      super(manager, channel);
      this.channel = channel;
      this.poller = poller;
    }

    @Override
    void watch(int before, int directions) throws IOException {
      if (selectionKey == null) {
        selectionKey = poller.add(this, channel);
      }
      int gone = before & ~directions;
      poller.unwant(selectionKey, gone);
      poller.want(selectionKey, directions);
    }

    @Override
    void unwatch() {
      if (selectionKey != null) {
        poller.unwant(selectionKey, Poller.BOTH);
      }
    }

    /** The JDK closes the descriptor of a registered channel only after the selector dropped it. */
    @Override
    boolean staysRegistered() {
      return selectionKey != null && channel.isOpen();
    }

    @Override
    void afterClose() {
      if (selectionKey != null) {
        poller.cancel(selectionKey);
      }
    }
  }
}
