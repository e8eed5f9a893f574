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
 *   <li>It is watched for exactly those directions that have a listener.
 *   <li>It is dead if it has none, or on NIO if the channel is closed besides; then it is
 *       registered nowhere and never will be, and the next event makes another one. So what the
 *       poller tells late finds nobody.
 *   <li>A listener that is taken out is told, or not, by the one who took it: once.
 *   <li>A fiber is pinned while it has the monitor or waits for it: a worker that polls takes it on
 *       its own thread, and must not wait for a fiber that only it can run.
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

  /** Takes an event out; returns null if there is none. */
  final IoManagerCore.@Nullable Listener take(IoEvent event) {
    return takeIf(event, null);
  }

  /** Takes an event out, if it is this one, or whichever; returns null if it is not there. */
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

  /** Called by whoever closes the channel. */
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
        // closed meanwhile: whoever closes it tells the rest
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

  /** Sees to it that it is told once of these directions; before it was of those. */
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

    /** A channel that a selector knows is not closed for good before that lets go of it. */
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
