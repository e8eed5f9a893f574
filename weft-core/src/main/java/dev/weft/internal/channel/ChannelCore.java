package dev.weft.internal.channel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.channel.ChannelClosedException;
import dev.weft.channel.Select;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.wait.WaitNode;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.Waiter;
import dev.weft.internal.wait.WakeList;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The machinery of a channel: a {@linkplain ChannelBuffer ring of values}, a queue of waiting
 * senders and one of waiting receivers, under one lock. As in Go's {@code chan.go}, a sender that
 * meets a waiting receiver hands its value over directly. Lock-free rings were refused: select has
 * to lock several channels at once, and a cancel must take a waiter out of the middle of a queue.
 *
 * <p>Operations return the value or a {@link NoValue}.
 *
 * @param <T> the type of the values
 */
public final class ChannelCore<T> extends ChannelBuffer<T> {
  /*
   * Invariants, whenever the lock is free; "waits" means: is queued and has not been chosen nor
   * given up (see Waiter).
   *
   *   count > 0         =>  no receiver waits
   *   count < capacity  =>  no sender waits
   *   a sender waits    =>  no receiver waits, but a select that waits for both on this channel
   *   closed            =>  no sender and no receiver waits, and nothing is added to the buffer
   *
   * A value is in one place at a time: with its sender, in the buffer, or with its receiver. It
   * changes place under the lock, in the same step in which the waiter is chosen. So a waiter that
   * gives up has kept its value, or was not given any.
   *
   * A select that locks several channels locks them in the order of their ids: see Selection.
   * Waiters are woken after the lock is released.
   */

  private static final AtomicLong LAST_ID = new AtomicLong();

  final long id = LAST_ID.incrementAndGet();
  final WaitQueue senders;
  final WaitQueue receivers;

  // written under lock, before closed, which a reader checks first
  private @Nullable Throwable cause;

  // called without the lock, after the channel was closed and again when it is empty too; null for
  // most. Written under lock; read without it only by threads that have held it since
  @Nullable List<Runnable> watchers;

  // written under lock
  private volatile boolean closed;

  /** Creates an open channel: 0 is rendezvous. */
  public ChannelCore(int capacity) {
    super(capacity);
    this.senders = new WaitQueue(lock, capacity == 0 ? "a receiver at" : "room in", this);
    this.receivers = new WaitQueue(lock, "a value from", this);
  }

  /** Creates a channel that holds up to n values, 1 or more. */
  public static <T> ChannelCore<T> buffered(int n) {
    if (n <= 0) {
      throw new IllegalArgumentException(
          "a buffered channel holds at least 1 value, not " + n + "; or use rendezvous()");
    }
    return new ChannelCore<>(n);
  }

  /** Creates a channel that brings the result of a stage, and its end. */
  public static <T> ChannelCore<T> of(CompletionStage<? extends T> stage) {
    ChannelCore<T> channel = buffered(1);
    var _ =
        stage.whenComplete(
            (value, error) -> {
              if (value != null) {
                channel.trySendUnlessClosed(value);
              }
              channel.end(error instanceof CompletionException e ? causeOf(e) : error);
            });
    return channel;
  }

  private static Throwable causeOf(CompletionException e) {
    return e.getCause() != null ? e.getCause() : e;
  }

  // ---- sending ----

  @Override
  public void send(T value) throws InterruptedException {
    Objects.requireNonNull(value, "value");
    if (sendAny(value, CurrentFiber.enterWait()) == NoValue.CLOSED) {
      throw closed("send to");
    }
  }

  /** Sends and waits if need be; returns the value, or CLOSED if it was not sent. */
  Object sendAny(Object value, @Nullable FiberCore<?> self) throws InterruptedException {
    Object sent = send(value, true, self);
    if (sent instanceof Waiter waiter) {
      waiter.await(senders);
      sent = Objects.requireNonNull(waiter.item);
    }
    return sent;
  }

  @Override
  public boolean send(T value, Duration limit) throws InterruptedException {
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(limit, "limit");
    Object sent = send(value, true, CurrentFiber.enterWait());
    if (sent instanceof Waiter waiter) {
      if (!waiter.await(senders, limit)) {
        return false;
      }
      sent = Objects.requireNonNull(waiter.item);
    }
    if (sent == NoValue.CLOSED) {
      throw closed("send to");
    }
    return true;
  }

  @Override
  public boolean trySend(T value) {
    Objects.requireNonNull(value, "value");
    CurrentFiber.yieldIfSliceExpired();
    Object sent = sendNow(value);
    if (sent == NoValue.CLOSED) {
      throw closed("send to");
    }
    return sent != NoValue.NOT_NOW;
  }

  boolean trySendUnlessClosed(T value) {
    return !NoValue.is(sendNow(value));
  }

  /**
   * Returns the value if it was sent, or CLOSED. If it cannot be sent at once, returns the waiter
   * that has joined the senders, or NOT_NOW for a sender that does not wait.
   */
  private Object send(Object value, boolean waits, @Nullable FiberCore<?> self) {
    WaitNode receiver;
    lock.lock();
    try {
      if (closed) {
        return NoValue.CLOSED;
      }
      receiver = receivers.poll(value);
      if (receiver == null && !store(value)) {
        if (!waits) {
          return NoValue.NOT_NOW;
        }
        Waiter waiter = new Waiter(self);
        waiter.item = value;
        senders.add(waiter);
        return waiter;
      }
    } finally {
      lock.unlock();
    }
    if (receiver != null) {
      receiver.wake();
    }
    return value;
  }

  /** Returns the value if it was sent, else NOT_NOW or CLOSED. */
  Object sendNow(Object value) {
    return send(value, false, null);
  }

  /** Like {@link #sendNow}, for a caller that holds the lock and will wake the receiver. */
  @GuardedBy("lock")
  Object sendLocked(Object value, WakeList woken) {
    if (closed) {
      return NoValue.CLOSED;
    }
    WaitNode receiver = receivers.poll(value);
    if (receiver != null) {
      woken.add(receiver);
      return value;
    }
    return store(value) ? value : NoValue.NOT_NOW;
  }

  // ---- receiving ----

  @Override
  public T receive() throws InterruptedException {
    return valueOf(receiveAny(CurrentFiber.enterWait()));
  }

  /** Receives and waits if need be; returns the value, or CLOSED. */
  Object receiveAny(@Nullable FiberCore<?> self) throws InterruptedException {
    Object value = receive(true, self);
    if (value instanceof Waiter waiter) {
      waiter.await(receivers);
      value = Objects.requireNonNull(waiter.item);
    }
    return value;
  }

  @Override
  public Optional<T> receiveOrClosed() throws InterruptedException {
    Object value = receiveAny(CurrentFiber.enterWait());
    return isNormalEnd(value) ? Optional.empty() : Optional.of(valueOf(value));
  }

  @Override
  public Optional<T> receive(Duration limit) throws InterruptedException {
    Objects.requireNonNull(limit, "limit");
    Object value = receive(true, CurrentFiber.enterWait());
    if (value instanceof Waiter waiter) {
      if (!waiter.await(receivers, limit)) {
        return Optional.empty();
      }
      value = waiter.item;
    }
    return Optional.of(valueOf(value));
  }

  @Override
  public Optional<T> tryReceive() {
    CurrentFiber.yieldIfSliceExpired();
    Object value = receiveNow();
    return value == NoValue.NOT_NOW ? Optional.empty() : Optional.of(valueOf(value));
  }

  /** Returns the value, NOT_NOW or CLOSED. */
  Object receiveNow() {
    return receive(false, null);
  }

  /** Like {@link #receiveNow}, for a caller that holds the lock and will wake the sender. */
  @GuardedBy("lock")
  Object receiveLocked(WakeList woken) {
    WaitNode sender = senders.poll();
    Object value = take(sender);
    if (sender != null) {
      woken.add(sender);
    }
    return value == NoValue.NOT_NOW && closed ? NoValue.CLOSED : value;
  }

  /**
   * Returns the value, or CLOSED. If there is no value yet, returns the waiter that has joined the
   * receivers, or NOT_NOW for a receiver that does not wait.
   */
  private Object receive(boolean waits, @Nullable FiberCore<?> self) {
    WaitNode sender;
    Object value;
    lock.lock();
    try {
      sender = senders.poll();
      value = take(sender);
      if (value == NoValue.NOT_NOW) {
        if (closed) {
          return NoValue.CLOSED;
        }
        if (!waits) {
          return NoValue.NOT_NOW;
        }
        Waiter waiter = new Waiter(self);
        receivers.add(waiter);
        return waiter;
      }
    } finally {
      lock.unlock();
    }
    if (sender != null) {
      sender.wake();
    }
    return value;
  }

  /** Returns whether a receive ended with this because of {@link #close}, without an error. */
  boolean isNormalEnd(@Nullable Object value) {
    return value == NoValue.CLOSED && cause == null;
  }

  /** Returns what was received; throws if that is the end. Called after each receive. */
  @SuppressWarnings("unchecked") // only values of T are sent
  T valueOf(@Nullable Object value) {
    if (NoValue.is(value)) {
      throw closed("receive from");
    }
    if (watchers != null && closed && isDrained()) {
      callWatchers();
    }
    return (T) Objects.requireNonNull(value);
  }

  @Override
  public Iterator<T> iterator() {
    return new ChannelIterator<>(this);
  }

  @Override
  public Flow.Publisher<T> publisher() {
    return subscriber -> Reactive.Outflow.begin(this, subscriber);
  }

  // ---- select ----

  @Override
  public <R> Select.Clause<R> onReceive(Function<T, R> then) {
    return new ChannelClause.Receive<>(this, Objects.requireNonNull(then, "then"), null);
  }

  @Override
  public <R> Select.Clause<R> onReceive(Function<T, R> then, Supplier<R> whenClosed) {
    return new ChannelClause.Receive<>(
        this,
        Objects.requireNonNull(then, "then"),
        Objects.requireNonNull(whenClosed, "whenClosed"));
  }

  @Override
  public <R> Select.Clause<R> onSend(T value, Supplier<R> then) {
    return new ChannelClause.Send<>(
        this, Objects.requireNonNull(value, "value"), Objects.requireNonNull(then, "then"));
  }

  /** Returns whether a receive needs not wait, or needed not a moment ago; without the lock. */
  boolean looksReadyToReceive() {
    return count > 0 || !senders.isEmpty() || closed;
  }

  /** Returns whether a send needs not wait, or needed not a moment ago; without the lock. */
  boolean looksReadyToSend() {
    return count < capacity || !receivers.isEmpty() || closed;
  }

  // ---- closing ----

  @Override
  public void close() {
    end(null);
  }

  @Override
  public void closeWithError(Throwable error) {
    end(Objects.requireNonNull(error, "error"));
  }

  void end(@Nullable Throwable error) {
    WakeList woken = new WakeList();
    lock.lock();
    try {
      if (!closed) {
        cause = error;
        closed = true;
        receivers.pollAll(NoValue.CLOSED, woken);
        senders.pollAll(NoValue.CLOSED, woken);
      }
    } finally {
      lock.unlock();
    }
    woken.wake();
    callWatchers();
  }

  /** Adds a callback for after the close, and again for when it is empty too; it must not wait. */
  void watch(Runnable watcher) {
    lock.lock();
    try {
      watchers = watchers == null ? new CopyOnWriteArrayList<>() : watchers;
      watchers.add(watcher);
    } finally {
      lock.unlock();
    }
  }

  void unwatch(Runnable watcher) {
    lock.lock();
    try {
      Objects.requireNonNull(watchers).remove(watcher);
    } finally {
      lock.unlock();
    }
  }

  private void callWatchers() {
    List<Runnable> all = watchers;
    if (all != null) {
      all.forEach(Runnable::run);
    }
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  /** Returns whether it is closed and empty. */
  boolean isDrained() {
    lock.lock();
    try {
      return closed && count == 0;
    } finally {
      lock.unlock();
    }
  }

  ChannelClosedException closed(String verb) {
    return new ChannelClosedException("cannot " + verb + " " + this + ": it is closed", cause);
  }

  @Override
  public String toString() {
    return "channel "
        + id
        + switch (capacity) {
          case 0 -> " (rendezvous)";
          case UNLIMITED -> " (unlimited)";
          default -> " (buffered " + capacity + ")";
        };
  }
}
