package dev.weft.internal.poller;

import dev.weft.internal.switching.Pinning;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A poller on the JDK's {@link Selector}, for every system. Events are one-shot: a pollable calls
 * {@link #want} for each further event.
 *
 * <p>Invariant: a fiber is pinned while it is inside the selector. The worker's loop enters the
 * selector's monitors too, and would otherwise wait for a fiber that only this worker could run.
 */
public final class NioPoller extends Poller {
  private static final int READING = SelectionKey.OP_READ | SelectionKey.OP_ACCEPT;
  private static final int WRITING = SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT;

  private @Nullable Selector selector;

  // whether a thread waits in select, which a change of a key's interest set does not reach
  private volatile boolean waiting;

  /**
   * Registers a channel, without events as yet.
   *
   * @throws java.nio.channels.IllegalBlockingModeException if the channel is in blocking mode
   */
  public SelectionKey add(Pollable pollable, SelectableChannel channel)
      throws ClosedChannelException {
    ensureMade();
    boolean pinned = Pinning.begin();
    try {
      return channel.register(selector(), 0, pollable);
    } finally {
      Pinning.end(pinned);
    }
  }

  private static int operations(SelectableChannel channel, int directions) {
    int wanted =
        ((directions & READ) != 0 ? READING : 0) | ((directions & WRITE) != 0 ? WRITING : 0);
    return wanted & channel.validOps();
  }

  /** Asks for one event when the channel is ready in one of these directions; on any thread. */
  public void want(SelectionKey key, int directions) {
    boolean pinned = Pinning.begin();
    try {
      key.interestOpsOr(operations(key.channel(), directions));
      wakeIfWaiting();
    } catch (CancelledKeyException e) {
      // the thread that has closed the channel wakes its waiters
    } finally {
      Pinning.end(pinned);
    }
  }

  /** Takes back a {@link #want}. */
  public void unwant(SelectionKey key, int directions) {
    boolean pinned = Pinning.begin();
    try {
      key.interestOpsAnd(~operations(key.channel(), directions));
    } catch (CancelledKeyException e) {
      // the channel is closed: no event will come
    } finally {
      Pinning.end(pinned);
    }
  }

  /** To be called after a registered channel was closed: the selector has to deregister it. */
  public void flush() {
    wakeIfWaiting();
  }

  /** Ends the registration of a channel that is being closed, also in a waiting selector. */
  public void cancel(SelectionKey key) {
    boolean pinned = Pinning.begin();
    try {
      key.cancel(); // before the wake-up: the JDK's close would cancel it after
      wakeIfWaiting();
    } finally {
      Pinning.end(pinned);
    }
  }

  private void wakeIfWaiting() {
    if (waiting) {
      wakeSelect();
    }
  }

  private Selector selector() {
    if (selector == null) {
      throw new IllegalStateException("not made");
    }
    return selector;
  }

  @Override
  void make() {
    try {
      selector = Selector.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  void select(long nanos) {
    Selector ready = selector();
    try {
      if (nanos <= 0) {
        ready.selectNow(NioPoller::tell);
        return;
      }
      waiting = true;
      try {
        ready.select(NioPoller::tell, millis(nanos));
      } finally {
        waiting = false;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Rounds up, because a wait that ends early is repeated. 0 means no limit. */
  private static long millis(long nanos) {
    return nanos == Long.MAX_VALUE ? 0 : nanos / 1_000_000 + 1;
  }

  private static void tell(SelectionKey key) {
    try {
      int ready = key.readyOps();
      int directions = ((ready & READING) != 0 ? READ : 0) | ((ready & WRITING) != 0 ? WRITE : 0);
      key.interestOpsAnd(~operations(key.channel(), directions));
      ((Pollable) key.attachment()).onReady(directions, false);
    } catch (CancelledKeyException e) {
      // closed
    }
  }

  @Override
  void wakeSelect() {
    boolean pinned = Pinning.begin();
    try {
      selector().wakeup();
    } finally {
      Pinning.end(pinned);
    }
  }

  @Override
  void release() {
    List<Pollable> registered = new ArrayList<>();
    for (SelectionKey key : selector().keys()) {
      registered.add((Pollable) key.attachment());
    }
    try {
      selector().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    registered.forEach(pollable -> pollable.onReady(BOTH, false));
  }
}
