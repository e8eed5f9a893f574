package dev.weft.io;

import dev.weft.Body;
import dev.weft.internal.IoHost;
import dev.weft.internal.IoManagerAccess;
import dev.weft.internal.IoWaits;
import dev.weft.internal.poller.Poller;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The I/O events of a scheduler: each is told once, to a callback that runs as a fiber and may
 * block, or to the fiber that added it.
 *
 * {@snippet class="dev.weft.io.IoSnippetsTest" region="events"}
 *
 * <p>READ and WRITE of one channel are independent of each other. An error or a hang-up fires every
 * direction that is registered, and so does closing the channel. Channels must be in non-blocking
 * mode. All methods may be called from any thread.
 *
 * <p>A bare descriptor, an {@code int}, must be non-blocking too; whoever closes one that has
 * events calls {@code cancelAll} first, for nobody else can tell. Descriptors need the epoll
 * poller: elsewhere their methods throw {@link UnsupportedOperationException}.
 */
public final class IoManager {
  static {
    IoManagerAccess.setFactory(IoManager::new);
  }

  private final IoHost host;

  // by channel or by number; a value is dead, or has an event
  private final Map<Object, Watched> watched = new ConcurrentHashMap<>();

  private IoManager(IoHost host) {
    this.host = host;
  }

  // ---- channels ----

  /**
   * Calls back, in a fiber of this scheduler, when the channel is ready.
   *
   * @throws IllegalStateException if the event is there already; that one stays
   * @throws java.nio.channels.IllegalBlockingModeException if the channel is in blocking mode
   * @throws UncheckedIOException if the channel is closed
   */
  public void addEvent(SelectableChannel channel, IoEvent event, Body callback) {
    add(checked(channel), event, new Callback(host, callback));
  }

  /**
   * Schedules the current fiber when the channel is ready: {@link dev.weft.Fiber#suspend} returns
   * then, or if it is called later returns at once. If that {@code suspend} returns for another
   * reason, the event stays until it fires or is removed, and does not wake a later one.
   *
   * @throws IllegalStateException if the event is there already, or outside a fiber
   */
  public void addEvent(SelectableChannel channel, IoEvent event) {
    add(checked(channel), event, new Scheduling(host.wakerOfCurrentFiber()));
  }

  /** Removes an event silently; returns false if there was none. */
  public boolean delEvent(SelectableChannel channel, IoEvent event) {
    return remove(checked(channel), event, false);
  }

  /** Removes an event and fires it, as if it were ready; returns false if there was none. */
  public boolean cancelEvent(SelectableChannel channel, IoEvent event) {
    return remove(checked(channel), event, true);
  }

  /** Removes and fires all events of a channel; returns false if there was none. */
  public boolean cancelAll(SelectableChannel channel) {
    return removeAll(checked(channel));
  }

  /**
   * Waits until the channel is ready, or the event is cancelled; any thread may. A limit of zero is
   * none.
   *
   * @throws SocketTimeoutException if it is not ready within the limit
   * @throws AsynchronousCloseException if the channel is closed meanwhile
   * @throws ClosedChannelException if it was closed before
   * @throws InterruptedIOException if the thread is interrupted or the fiber cancelled; the
   *     interrupt status is set
   * @throws IllegalStateException if the event is there already
   */
  public void await(SelectableChannel channel, IoEvent event, Duration limit) throws IOException {
    await(checked(channel), event, limit);
    if (!channel.isOpen()) {
      throw new AsynchronousCloseException();
    }
  }

  /**
   * Waits until the first of the channels is ready, or its event is cancelled, and returns that
   * channel; returns empty if none is ready within the limit. A limit of zero is none. On return no
   * channel has an event of this call any more, so the next call finds whatever else is ready.
   *
   * @throws AsynchronousCloseException if one of the channels is closed meanwhile
   * @throws ClosedChannelException if one was closed before
   * @throws InterruptedException if the thread is interrupted or the fiber cancelled
   * @throws IllegalArgumentException if there is no channel to wait for
   * @throws IllegalStateException if one of the channels has this event already
   */
  public <C extends SelectableChannel> Optional<C> awaitAny(
      Collection<C> channels, IoEvent event, Duration limit)
      throws IOException, InterruptedException {
    return new FirstReady<>(this, channels, event).await(limit);
  }

  // ---- descriptors ----

  /**
   * Calls back when the descriptor is ready.
   *
   * @throws IllegalStateException if the event is there already
   * @throws IllegalArgumentException if it is not open, or cannot be waited for, as a file cannot
   */
  public void addEvent(int descriptor, IoEvent event, Body callback) {
    add(checked(descriptor), event, new Callback(host, callback));
  }

  /** Schedules the current fiber when the descriptor is ready. */
  public void addEvent(int descriptor, IoEvent event) {
    add(checked(descriptor), event, new Scheduling(host.wakerOfCurrentFiber()));
  }

  /** Removes an event silently; returns false if there was none. */
  public boolean delEvent(int descriptor, IoEvent event) {
    return remove(checked(descriptor), event, false);
  }

  /** Removes an event and fires it; returns false if there was none. */
  public boolean cancelEvent(int descriptor, IoEvent event) {
    return remove(checked(descriptor), event, true);
  }

  /** Removes and fires all events of a descriptor; returns false if there was none. */
  public boolean cancelAll(int descriptor) {
    return removeAll(checked(descriptor));
  }

  /** Waits until the descriptor is ready: see the one for channels. */
  public void await(int descriptor, IoEvent event, Duration limit) throws IOException {
    await(checked(descriptor), event, limit);
  }

  /** Returns how many events have been added and not fired or removed. */
  public int pendingEvents() {
    return host.pending();
  }

  // ---- what they share ----

  /** Is told of an event, once. */
  interface Listener {
    void fire();
  }

  private record Callback(IoHost host, Body body) implements Listener {
    Callback {
      Objects.requireNonNull(body, "callback");
    }

    @Override
    public void fire() {
      host.fire(body);
    }
  }

  private record Scheduling(Runnable waker) implements Listener {
    @Override
    public void fire() {
      waker.run();
    }
  }

  /** A thread that waits in {@link #await}. */
  private static final class Waiter implements Listener, IoWaits.Event {
    private final Object key;
    private final IoEvent event;
    private final Thread thread = Thread.currentThread();
    private volatile boolean fired;

    Waiter(Object key, IoEvent event) {
      this.key = key;
      this.event = event;
    }

    @Override
    public void fire() {
      fired = true;
      LockSupport.unpark(thread);
    }

    @Override
    public boolean hasCome() {
      return fired;
    }

    @Override
    public String toString() {
      return event + " of " + describe(key);
    }
  }

  private void add(Object key, IoEvent event, Listener listener) {
    try {
      tryAdd(key, event, listener);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Adds an event, which counts as pending until it fires or is taken out. */
  void tryAdd(Object key, IoEvent event, Listener listener) throws IOException {
    host.pending(+1);
    boolean added = false;
    try {
      do {
        Poller poller = host.poller();
        added = watched.computeIfAbsent(key, k -> Watched.of(this, k, poller)).add(event, listener);
      } while (!added);
    } finally {
      if (!added) {
        host.pending(-1);
      }
    }
  }

  private boolean remove(Object key, IoEvent event, boolean fire) {
    Watched found = watched.get(key);
    Listener listener = found == null ? null : found.take(event);
    if (listener == null) {
      return false;
    }
    end(listener, fire);
    return true;
  }

  private boolean removeAll(Object key) {
    boolean any = false;
    for (IoEvent event : IoEvent.values()) {
      any |= remove(key, event, true);
    }
    return any;
  }

  private void await(Object key, IoEvent event, Duration limit) throws IOException {
    Waiter waiter = new Waiter(key, event);
    tryAdd(key, event, waiter);
    boolean came = false;
    try {
      came = park(waiter, limit);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted =
          new InterruptedIOException("interrupted while waiting for " + waiter);
      interrupted.initCause(e);
      throw interrupted;
    } finally {
      if (!came) {
        withdraw(key, event, waiter);
      }
    }
    if (!came) {
      throw new SocketTimeoutException("no " + waiter + " within " + limit);
    }
  }

  /** Takes the event of this listener out, silently, if it has not fired. */
  void withdraw(Object key, IoEvent event, Listener listener) {
    Watched found = watched.get(key);
    if (found != null && found.takeIf(event, listener) != null) {
      host.pending(-1);
    }
  }

  /** Parks the current thread until the event has come: see {@link IoWaits#await}. */
  boolean park(IoWaits.Event event, Duration limit) throws InterruptedException {
    return host.await(event, limit.isZero() ? null : limit);
  }

  /** Called when a listener has been taken out: it is told first, or stop() could miss both. */
  void end(@Nullable Listener listener, boolean fire) {
    if (listener != null) {
      try {
        if (fire) {
          listener.fire();
        }
      } finally {
        host.pending(-1);
      }
    }
  }

  /** Called by one that has no event any more and takes none. */
  void forget(Watched dead) {
    watched.remove(dead.key, dead);
  }

  private static Object checked(SelectableChannel channel) {
    return Objects.requireNonNull(channel, "channel");
  }

  private static Object checked(int descriptor) {
    if (descriptor < 0) {
      throw new IllegalArgumentException("descriptor must be 0 or more, not " + descriptor);
    }
    if (!Poller.isEpoll()) {
      throw new UnsupportedOperationException(
          "descriptors can be watched by the epoll poller only, not by nio: use a channel");
    }
    return descriptor;
  }

  static String describe(Object key) {
    return key instanceof Integer ? "descriptor " + key : key.toString();
  }
}
