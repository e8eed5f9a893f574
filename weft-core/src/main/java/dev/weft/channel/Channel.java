package dev.weft.channel;

import dev.weft.internal.lock.SpinLock;
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
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * A way for values from those who send to those who receive, fibers and plain threads alike, first
 * come first served.
 *
 * {@snippet class="dev.weft.channel.ChannelSnippetsTest" region="producer-and-consumer"}
 *
 * <p>A <em>rendezvous</em> channel holds nothing: a send waits for a receive. A <em>buffered</em>
 * one holds up to so many values before sends wait, an <em>unlimited</em> one whatever is sent.
 *
 * <p>{@link #send}, {@link #receive} and {@link Select} are cancel points, whether they have to
 * wait or not. A call that ends by a cancel, an interrupt or its time limit has done nothing: its
 * value was not sent, and none was taken.
 *
 * <p>What a fiber did before it sent a value is seen by the one who received it.
 *
 * @param <T> what is sent
 */
public final class Channel<T> implements Iterable<T>, AutoCloseable {
  /*
   * Invariants, whenever the lock is free; "waits" means: is queued and has not been chosen nor
   * given up (see Waiter).
   *
   *   0 <= count <= capacity
   *   count > 0         =>  no receiver waits
   *   count < capacity  =>  no sender waits
   *   a sender waits    =>  no receiver waits, but a select that waits for both on this channel
   *   closed            =>  nobody waits, and nothing is added to the buffer
   *
   * A value is in one place at a time: with its sender, in the buffer, or with its receiver. It
   * changes place under the lock, in the same step in which the one who waits is chosen. So who
   * gives up has kept its value, or was not given any.
   *
   * Channels are locked in the order of their ids by those who lock several: see Select. Wake-ups
   * come after the lock is given back.
   */

  /** Given to those who wait when the channel is closed. */
  static final Object CLOSED = new Object();

  /** What there is when there is nothing to receive. */
  static final Object NOTHING = new Object();

  private static final int UNLIMITED = Integer.MAX_VALUE;
  private static final int FIRST_BUFFER = 16;

  /** Up to so many the buffer gets all its room in the second step. */
  private static final int MOST_AT_ONCE = 256;

  /** A buffer that had to grow beyond this is let go when it is empty. */
  private static final int KEPT_BUFFER = 4096;

  private static final @Nullable Object[] NO_BUFFER = {};
  private static final AtomicLong LAST_ID = new AtomicLong();

  final long id = LAST_ID.incrementAndGet();
  final SpinLock lock = new SpinLock();
  final WaitQueue senders;
  final WaitQueue receivers;
  private final int capacity;

  // all under lock; a ring, whose length is a power of two
  private @Nullable Object[] buffer;
  private int head;
  private int count;
  private @Nullable Throwable cause;

  // called without the lock, after it was closed and again when it is empty too; null for most.
  // Written under lock, and read by those who have had it since
  @Nullable List<Runnable> watchers;

  // written under lock
  private volatile boolean closed;

  private Channel(int capacity) {
    this.capacity = capacity;
    this.senders = new WaitQueue(lock, capacity == 0 ? "a receiver at" : "room in", this);
    this.receivers = new WaitQueue(lock, "a value from", this);
    this.buffer = NO_BUFFER;
  }

  /** Creates a channel that holds nothing: a send waits for a receive. */
  public static <T> Channel<T> rendezvous() {
    return new Channel<>(0);
  }

  /**
   * Creates a channel that holds up to n values.
   *
   * @throws IllegalArgumentException if n is not positive
   */
  public static <T> Channel<T> buffered(int n) {
    if (n <= 0) {
      throw new IllegalArgumentException(
          "a buffered channel holds at least 1 value, not " + n + "; or use rendezvous()");
    }
    return new Channel<>(n);
  }

  /** Creates a channel that holds whatever is sent, as far as there is memory. */
  public static <T> Channel<T> unlimited() {
    return new Channel<>(UNLIMITED);
  }

  /**
   * Creates a channel that brings what the publisher publishes, and then is closed, with the
   * publisher's error if there is one. The publisher is asked for n values at a time; closing the
   * channel cancels the subscription.
   */
  public static <T> Channel<T> from(Flow.Publisher<? extends T> publisher, int n) {
    Channel<T> channel = buffered(n);
    publisher.subscribe(Reactive.Inflow.to(channel, n));
    return channel;
  }

  /**
   * Creates a channel that brings the result of the stage (nothing, if that is null), and then is
   * closed, with the error if there is one. So a future can take part in a {@link Select}.
   */
  public static <T> Channel<T> from(CompletionStage<? extends T> stage) {
    Channel<T> channel = buffered(1);
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

  /**
   * Sends a value; waits for a receiver, or for room in the buffer.
   *
   * @throws ChannelClosedException if the channel is closed, or is while this waits; the value was
   *     not sent
   * @throws InterruptedException if the caller is interrupted or cancelled; the value was not sent
   */
  public void send(T value) throws InterruptedException {
    Objects.requireNonNull(value, "value");
    if (sendAny(value, CurrentFiber.enterWait()) == CLOSED) {
      throw closed("send to");
    }
  }

  /** Sends and waits if need be; returns CLOSED if it was not sent. */
  Object sendAny(Object value, @Nullable FiberCore<?> self) throws InterruptedException {
    Object sent = send(value, true, self);
    if (sent instanceof Waiter waiter) {
      waiter.await(senders);
      sent = Objects.requireNonNull(waiter.item);
    }
    return sent;
  }

  /**
   * Sends a value, but waits only for so long; returns whether it was sent.
   *
   * @throws ChannelClosedException as {@link #send(Object)}
   */
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
    if (sent == CLOSED) {
      throw closed("send to");
    }
    return true;
  }

  /**
   * Sends a value if that is possible at once; returns whether it was.
   *
   * @throws ChannelClosedException if the channel is closed
   */
  public boolean trySend(T value) {
    Objects.requireNonNull(value, "value");
    CurrentFiber.yieldIfSliceExpired();
    Object sent = sendNow(value);
    if (sent == CLOSED) {
      throw closed("send to");
    }
    return sent != NOTHING;
  }

  boolean trySendUnlessClosed(T value) {
    Object sent = sendNow(value);
    return sent != CLOSED && sent != NOTHING;
  }

  /**
   * Returns the value if it was sent, CLOSED, or, if it cannot be at once, the place where its
   * sender now waits; NOTHING if that is not to wait.
   */
  private Object send(Object value, boolean waits, @Nullable FiberCore<?> self) {
    WaitNode receiver;
    lock.lock();
    try {
      if (closed) {
        return CLOSED;
      }
      receiver = receivers.poll(value);
      if (receiver == null && !store(value)) {
        if (!waits) {
          return NOTHING;
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

  /** Returns the value if it was sent, else NOTHING or CLOSED. */
  Object sendNow(Object value) {
    return send(value, false, null);
  }

  /** Like {@link #sendNow}, for one who holds the lock and will wake the receiver. */
  Object sendLocked(Object value, WakeList woken) {
    if (closed) {
      return CLOSED;
    }
    WaitNode receiver = receivers.poll(value);
    if (receiver != null) {
      woken.add(receiver);
      return value;
    }
    return store(value) ? value : NOTHING;
  }

  // ---- receiving ----

  /**
   * Receives the next value; waits for one.
   *
   * @throws ChannelClosedException if the channel is closed and empty, or is while this waits; a
   *     receiver that expects the end calls {@link #receiveOrClosed()}
   * @throws InterruptedException if the caller is interrupted or cancelled; no value was taken
   */
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

  /**
   * Receives the next value, or learns that there will be none; waits for one or the other. Empty
   * means the end: the channel is closed, every value that was sent has been received, and each
   * later call returns empty at once.
   *
   * {@snippet class="dev.weft.channel.ChannelSnippetsTest" region="receive-or-closed"}
   *
   * <p>This is the question for a receiver that has to know whether it is done. {@link #isClosed()}
   * answers another one: whether sends fail. To wait for several channels, or for a limited time,
   * use a {@link Select} with {@link #onReceive(Function, Supplier)}.
   *
   * @throws ChannelClosedException if the channel was {@linkplain #closeWithError closed with an
   *     error} and is empty, so that the error is not taken for a normal end; the error is its
   *     cause
   * @throws InterruptedException if the caller is interrupted or cancelled; no value was taken
   */
  public Optional<T> receiveOrClosed() throws InterruptedException {
    Object value = receiveAny(CurrentFiber.enterWait());
    return isNormalEnd(value) ? Optional.empty() : Optional.of(valueOf(value));
  }

  /**
   * Receives the next value, but waits only for so long; empty if none came in that time. It does
   * not tell the end of the channel from a slow sender otherwise than by the exception.
   *
   * @throws ChannelClosedException as {@link #receive()}
   */
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

  /**
   * Receives the next value if there is one now; empty if not, while the channel is open.
   *
   * @throws ChannelClosedException if the channel is closed and empty
   */
  public Optional<T> tryReceive() {
    CurrentFiber.yieldIfSliceExpired();
    Object value = receiveNow();
    return value == NOTHING ? Optional.empty() : Optional.of(valueOf(value));
  }

  /** Returns the value, NOTHING or CLOSED. */
  Object receiveNow() {
    return receive(false, null);
  }

  /** Like {@link #receiveNow}, for one who holds the lock and will wake the sender. */
  Object receiveLocked(WakeList woken) {
    WaitNode sender = senders.poll();
    Object value = take(sender);
    if (sender != null) {
      woken.add(sender);
    }
    return value == NOTHING && closed ? CLOSED : value;
  }

  /**
   * Returns the value, CLOSED, or, if there is none yet, the place where its receiver now waits;
   * NOTHING if that is not to wait.
   */
  private Object receive(boolean waits, @Nullable FiberCore<?> self) {
    WaitNode sender;
    Object value;
    lock.lock();
    try {
      sender = senders.poll();
      value = take(sender);
      if (value == NOTHING) {
        if (closed) {
          return CLOSED;
        }
        if (!waits) {
          return NOTHING;
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
    return value == CLOSED && cause == null;
  }

  /** Returns what was received; throws if that is the end. Called after each receive. */
  @SuppressWarnings("unchecked") // only values of T are sent
  T valueOf(@Nullable Object value) {
    if (value == CLOSED || value == NOTHING) {
      throw closed("receive from");
    }
    if (watchers != null && closed && isDrained()) {
      callWatchers();
    }
    return (T) Objects.requireNonNull(value);
  }

  /**
   * Receives value after value until the channel is closed. Several may iterate, each value goes to
   * one of them. The iterator throws {@link ChannelClosedException} if the channel was closed with
   * an error, and {@link CancellationException} if the caller is interrupted or cancelled; the
   * interrupt status is set then.
   */
  @Override
  public Iterator<T> iterator() {
    return new ChannelIterator<>(this);
  }

  /** Returns a stream of what is received until the channel is closed: see {@link #iterator}. */
  public Stream<T> stream() {
    return StreamSupport.stream(
        Spliterators.spliteratorUnknownSize(iterator(), Spliterator.ORDERED | Spliterator.NONNULL),
        false);
  }

  /**
   * Returns a publisher of what is received: each subscriber has a fiber that receives as many
   * values as it asks for. Several share the values, as receivers do. Closing completes it.
   */
  public Flow.Publisher<T> publisher() {
    return subscriber -> Reactive.Outflow.begin(this, subscriber);
  }

  // ---- select ----

  /**
   * Returns the clause of a {@link Select} that receives a value and then applies a function. If it
   * is chosen at the end of the channel, the select throws {@link ChannelClosedException}.
   */
  public <R> Select.Clause<R> onReceive(Function<T, R> then) {
    return new Select.Receive<>(this, Objects.requireNonNull(then, "then"), null);
  }

  /**
   * Returns the clause of a {@link Select} that receives a value and then applies a function, or
   * calls a supplier at the end of the channel: when it is closed and every value that was sent has
   * been received.
   *
   * {@snippet class="dev.weft.channel.ChannelSnippetsTest" region="merge"}
   *
   * <p>At the end the clause is ready each time. A loop that goes on with other channels leaves it
   * out from then on, as above, or switches it off with {@link Select#when}.
   *
   * <p>The end of a channel that was {@linkplain #closeWithError closed with an error} is not left
   * to the supplier: the select throws {@link ChannelClosedException} with the error as its cause.
   */
  public <R> Select.Clause<R> onReceive(Function<T, R> then, Supplier<R> whenClosed) {
    return new Select.Receive<>(
        this,
        Objects.requireNonNull(then, "then"),
        Objects.requireNonNull(whenClosed, "whenClosed"));
  }

  /** Returns the clause of a {@link Select} that sends a value and then calls a supplier. */
  public <R> Select.Clause<R> onSend(T value, Supplier<R> then) {
    return new Select.Send<>(
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

  /**
   * Closes it: nothing can be sent any more, and senders who wait fail; what is in the buffer can
   * still be received, then receivers fail. Closing it again changes nothing.
   */
  @Override
  public void close() {
    end(null);
  }

  /** Closes it; the error is the cause of each {@link ChannelClosedException} from then on. */
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
        receivers.pollAll(CLOSED, woken);
        senders.pollAll(CLOSED, woken);
      }
    } finally {
      lock.unlock();
    }
    woken.wake();
    callWatchers();
  }

  /** Has this called after it was closed, and again when it is empty too; it must not wait. */
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

  /**
   * Returns whether it has been closed, which is a sender's question: whether a send would fail. It
   * does not say that there is nothing left to receive: a closed channel still holds the values
   * that were sent before. A receiver asks {@link #receiveOrClosed()}.
   */
  public boolean isClosed() {
    return closed;
  }

  /**
   * Returns how many values it holds: sent and not yet received. Senders that wait for a receiver
   * or for room still have their values, so a rendezvous channel always holds 0. Other fibers and
   * threads may have changed the number when this returns; it is for statistics and tests. Whether
   * there is something to receive {@link #tryReceive()} answers, by receiving it.
   */
  public int size() {
    lock.lock();
    try {
      return count;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns how many values it can hold before sends wait: 0 for a rendezvous channel, {@link
   * Integer#MAX_VALUE} for an unlimited one. It does not change, not by closing either.
   */
  public int capacity() {
    return capacity;
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

  // ---- the buffer, under lock ----

  /** Puts a value into the buffer; returns false if there is no room. */
  private boolean store(Object value) {
    if (count == capacity) {
      return false;
    }
    if (count == buffer.length) {
      grow();
    }
    buffer[(head + count) & (buffer.length - 1)] = value;
    count++;
    return true;
  }

  /** Takes the next value; what the sender brings, who has waited for room, goes to the end. */
  private Object take(@Nullable WaitNode sender) {
    if (count == 0) {
      return sender == null ? NOTHING : Objects.requireNonNull(sender.item);
    }
    Object value = Objects.requireNonNull(buffer[head]);
    if (sender != null) { // it was full
      buffer[head] = null;
      head = (head + 1) & (buffer.length - 1);
      buffer[(head + count - 1) & (buffer.length - 1)] = sender.item;
    } else {
      buffer[head] = null;
      head = (head + 1) & (buffer.length - 1);
      if (--count == 0 && buffer.length > KEPT_BUFFER) {
        buffer = NO_BUFFER;
        head = 0;
      }
    }
    return value;
  }

  private void grow() {
    int length = buffer.length;
    @Nullable Object[] larger = new Object[nextLength(length)];
    System.arraycopy(buffer, head, larger, 0, length - head);
    System.arraycopy(buffer, 0, larger, length - head, head);
    buffer = larger;
    head = 0;
  }

  /** A few first; then at once what a small channel may hold, else twice as many. */
  private int nextLength(int length) {
    int most = capacity > MOST_AT_ONCE ? UNLIMITED : Integer.highestOneBit(2 * capacity - 1);
    if (length == 0) {
      return Math.min(most, FIRST_BUFFER);
    }
    return most <= MOST_AT_ONCE ? most : Math.multiplyExact(length, 2);
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
