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
 * A poller on the JDK's {@link Selector}, for every system. What is ready is told once; who wants
 * to hear of it again says so by {@link #want}.
 *
 * <p>Invariant: a fiber is pinned while it is inside the selector. Its monitors are entered by the
 * worker's loop too, which would otherwise wait for a fiber that only it could run.
 */
public final class NioPoller extends Poller {
  private static final int READING = SelectionKey.OP_READ | SelectionKey.OP_ACCEPT;
  private static final int WRITING = SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT;

  private @Nullable Selector selector;

  // whether a thread waits in select, and would not see what is wanted meanwhile
  private volatile boolean waiting;

  /**
   * Registers a channel, for nothing as yet.
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

  /** Asks to be told once when it is ready in one of these directions; from any thread. */
  public void want(SelectionKey key, int directions) {
    boolean pinned = Pinning.begin();
    try {
      key.interestOpsOr(operations(key.channel(), directions));
      wakeIfWaiting();
    } catch (CancelledKeyException e) {
      // the channel has been closed, which its waiters are told by the one who does
    } finally {
      Pinning.end(pinned);
    }
  }

  /** Ceases to ask. */
  public void unwant(SelectionKey key, int directions) {
    boolean pinned = Pinning.begin();
    try {
      key.interestOpsAnd(~operations(key.channel(), directions));
    } catch (CancelledKeyException e) {
      // closed: nothing will be told
    } finally {
      Pinning.end(pinned);
    }
  }

  /** To be called after a registered channel was closed: the selector has to let go of it. */
  public void flush() {
    wakeIfWaiting();
  }

  /** Ends a registration whose channel is being closed: the selector has to let go of it. */
  public void cancel(SelectionKey key) {
    boolean pinned = Pinning.begin();
    try {
      key.cancel(); // before it is woken, not after, by the JDK
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

  /** Rounds up: a wait that ends too soon would have to be made again. 0 is for ever. */
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
