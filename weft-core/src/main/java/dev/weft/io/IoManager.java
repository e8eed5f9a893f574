package dev.weft.io;

import dev.weft.Body;
import dev.weft.internal.io.IoManagerCore;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;

/**
 * The one-shot I/O events of a scheduler. An event runs a callback as a fiber, which may block, or
 * wakes the fiber that added it.
 *
 * {@snippet class="dev.weft.io.IoSnippetsTest" region="events"}
 *
 * <p>READ and WRITE of one channel are independent of each other. An error or a hang-up fires every
 * direction that is registered, and so does closing the channel. Channels must be in non-blocking
 * mode. All methods may be called from any thread.
 *
 * <p>A bare descriptor, an {@code int}, must be non-blocking too; a program that closes a
 * descriptor with events has to call {@code cancelAll} first, because Weft does not see the close.
 * Descriptors need the epoll poller: with another poller their methods throw {@link
 * UnsupportedOperationException}.
 */
public abstract sealed class IoManager permits IoManagerCore {
  /** For Weft's own subclass. */
  protected IoManager() {}

  // ---- channels ----

  /**
   * Calls back, in a fiber of this scheduler, when the channel is ready.
   *
   * @throws IllegalStateException if the channel has this event already, which stays
   * @throws java.nio.channels.IllegalBlockingModeException if the channel is in blocking mode
   * @throws UncheckedIOException if the channel is closed
   */
  public abstract void addEvent(SelectableChannel channel, IoEvent event, Body callback);

  /**
   * Schedules the current fiber when the channel is ready: {@link dev.weft.Fiber#suspend} returns
   * then, or if it is called later returns at once. If that {@code suspend} returns for another
   * reason, the event stays until it fires or is removed, and does not wake a later {@code
   * suspend}.
   *
   * @throws IllegalStateException if the channel has this event already, or outside a fiber
   */
  public abstract void addEvent(SelectableChannel channel, IoEvent event);

  /** Removes an event silently; returns false if there was none. */
  public abstract boolean delEvent(SelectableChannel channel, IoEvent event);

  /** Removes an event and fires it, as if it were ready; returns false if there was none. */
  public abstract boolean cancelEvent(SelectableChannel channel, IoEvent event);

  /** Removes and fires all events of a channel; returns false if there was none. */
  public abstract boolean cancelAll(SelectableChannel channel);

  /**
   * Waits until the channel is ready, or the event is cancelled; on any thread. A limit of zero
   * means no limit.
   *
   * @throws SocketTimeoutException if it is not ready within the limit
   * @throws AsynchronousCloseException if the channel is closed meanwhile
   * @throws ClosedChannelException if it was closed before
   * @throws InterruptedIOException if the thread is interrupted or the fiber cancelled; the
   *     interrupt status is set
   * @throws IllegalStateException if the channel has this event already
   */
  public abstract void await(SelectableChannel channel, IoEvent event, Duration limit)
      throws IOException;

  /**
   * Waits until the first of the channels is ready, or its event is cancelled, and returns that
   * channel; returns empty if no channel is ready within the limit. A limit of zero means no limit.
   * On return no channel has an event of this call any more, so the next call finds the other
   * channels that are ready.
   *
   * @throws AsynchronousCloseException if one of the channels is closed meanwhile
   * @throws ClosedChannelException if one was closed before
   * @throws InterruptedException if the thread is interrupted or the fiber cancelled
   * @throws IllegalArgumentException if there is no channel to wait for
   * @throws IllegalStateException if one of the channels has this event already
   */
  public abstract <C extends SelectableChannel> Optional<C> awaitAny(
      Collection<C> channels, IoEvent event, Duration limit)
      throws IOException, InterruptedException;

  // ---- descriptors ----

  /**
   * Calls back when the descriptor is ready.
   *
   * @throws IllegalStateException if the descriptor has this event already
   * @throws IllegalArgumentException if it is not open, or is a file, which cannot be waited for
   */
  public abstract void addEvent(int descriptor, IoEvent event, Body callback);

  /** Schedules the current fiber when the descriptor is ready. */
  public abstract void addEvent(int descriptor, IoEvent event);

  /** Removes an event silently; returns false if there was none. */
  public abstract boolean delEvent(int descriptor, IoEvent event);

  /** Removes an event and fires it; returns false if there was none. */
  public abstract boolean cancelEvent(int descriptor, IoEvent event);

  /** Removes and fires all events of a descriptor; returns false if there was none. */
  public abstract boolean cancelAll(int descriptor);

  /**
   * Waits until the descriptor is ready, as {@link #await(SelectableChannel, IoEvent, Duration)}.
   */
  public abstract void await(int descriptor, IoEvent event, Duration limit) throws IOException;

  /** Returns how many events have been added and not fired or removed. */
  public abstract int pendingEvents();
}
