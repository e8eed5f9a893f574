package dev.weft.internal.io;

import dev.weft.Body;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.poller.ReadyEvent;
import dev.weft.io.IoEvent;
import dev.weft.io.IoManager;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
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
 * The I/O events of one scheduler. Each channel or descriptor that has an event is a {@link
 * Watched}, registered with the poller of the worker on which its first event was added.
 */
public final class IoManagerCore extends IoManager {
  private final IoHost host;

  // by channel, or by descriptor number; each value is dead or has an event
  private final Map<Object, Watched> watched = new ConcurrentHashMap<>();

  /** Creates the events of a scheduler. */
  public IoManagerCore(IoHost host) {
    this.host = host;
  }

  // ---- channels ----

  @Override
  public void addEvent(SelectableChannel channel, IoEvent event, Body callback) {
    add(checked(channel), event, new Callback(host, callback));
  }

  @Override
  public void addEvent(SelectableChannel channel, IoEvent event) {
    add(checked(channel), event, new Scheduling(host.wakerOfCurrentFiber()));
  }

  @Override
  public boolean delEvent(SelectableChannel channel, IoEvent event) {
    return remove(checked(channel), event, false);
  }

  @Override
  public boolean cancelEvent(SelectableChannel channel, IoEvent event) {
    return remove(checked(channel), event, true);
  }

  @Override
  public boolean cancelAll(SelectableChannel channel) {
    return removeAll(checked(channel));
  }

  @Override
  public void await(SelectableChannel channel, IoEvent event, Duration limit) throws IOException {
    await(checked(channel), event, limit);
    if (!channel.isOpen()) {
      throw new AsynchronousCloseException();
    }
  }

  @Override
  public <C extends SelectableChannel> Optional<C> awaitAny(
      Collection<C> channels, IoEvent event, Duration limit)
      throws IOException, InterruptedException {
    return new FirstReady<>(this, channels, event).await(limit);
  }

  // ---- descriptors ----

  @Override
  public void addEvent(int descriptor, IoEvent event, Body callback) {
    add(checked(descriptor), event, new Callback(host, callback));
  }

  @Override
  public void addEvent(int descriptor, IoEvent event) {
    add(checked(descriptor), event, new Scheduling(host.wakerOfCurrentFiber()));
  }

  @Override
  public boolean delEvent(int descriptor, IoEvent event) {
    return remove(checked(descriptor), event, false);
  }

  @Override
  public boolean cancelEvent(int descriptor, IoEvent event) {
    return remove(checked(descriptor), event, true);
  }

  @Override
  public boolean cancelAll(int descriptor) {
    return removeAll(checked(descriptor));
  }

  @Override
  public void await(int descriptor, IoEvent event, Duration limit) throws IOException {
    await(checked(descriptor), event, limit);
  }

  @Override
  public int pendingEvents() {
    return host.pending();
  }

  // ---- for channels and descriptors ----

  /** Called once when its event comes. */
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
  private static final class Waiter implements Listener, ReadyEvent {
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

  /** Adds an event, which counts as pending until it fires or is removed. */
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

  /** Removes the event of this listener, without a call of it, if it has not fired. */
  void withdraw(Object key, IoEvent event, Listener listener) {
    Watched found = watched.get(key);
    if (found != null && found.takeIf(event, listener) != null) {
      host.pending(-1);
    }
  }

  /** Parks the current thread until the event has come: see {@link IoHost#await}. */
  boolean park(ReadyEvent event, Duration limit) throws InterruptedException {
    return host.await(event, limit.isZero() ? null : limit);
  }

  /**
   * Ends the event of a removed listener; fires before it counts, so stop() sees one of the two.
   */
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

  /** Called by a Watched that has died. */
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
