package dev.weft.channel;

import dev.weft.internal.channel.ChannelBuffer;
import dev.weft.internal.channel.ChannelCore;
import dev.weft.internal.channel.Reactive;
import java.time.Duration;
import java.util.Iterator;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A queue over which senders hand values to receivers, in FIFO order. Fibers and plain threads can
 * send and receive.
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
 * <p>What a sender did before it sent a value happens-before what the receiver of that value does
 * next.
 *
 * @param <T> what is sent
 */
public abstract sealed class Channel<T> implements Iterable<T>, AutoCloseable
    permits ChannelBuffer {
  /** For Weft's own subclass. */
  protected Channel() {}

  /** Creates a channel that holds nothing: a send waits for a receive. */
  public static <T> Channel<T> rendezvous() {
    return new ChannelCore<>(0);
  }

  /**
   * Creates a channel that holds up to n values.
   *
   * @throws IllegalArgumentException if n is not positive
   */
  public static <T> Channel<T> buffered(int n) {
    return ChannelCore.buffered(n);
  }

  /** Creates a channel that holds whatever is sent, as far as there is memory. */
  public static <T> Channel<T> unlimited() {
    return new ChannelCore<>(ChannelBuffer.UNLIMITED);
  }

  /**
   * Creates a channel that brings what the publisher publishes, and then is closed, with the
   * publisher's error if there is one. The publisher is asked for n values at a time; closing the
   * channel cancels the subscription.
   */
  public static <T> Channel<T> from(Flow.Publisher<? extends T> publisher, int n) {
    return Reactive.Inflow.channelOf(publisher, n);
  }

  /**
   * Creates a channel that brings the result of the stage (nothing, if that is null), and then is
   * closed, with the error if there is one. So a future can take part in a {@link Select}.
   */
  public static <T> Channel<T> from(CompletionStage<? extends T> stage) {
    return ChannelCore.of(stage);
  }

  // ---- sending ----

  /**
   * Sends a value; waits for a receiver, or for room in the buffer.
   *
   * @throws ChannelClosedException if the channel is closed, or is while this waits; the value was
   *     not sent
   * @throws InterruptedException if the caller is interrupted or cancelled; the value was not sent
   */
  public abstract void send(T value) throws InterruptedException;

  /**
   * Sends a value, but waits only for so long; returns whether it was sent.
   *
   * @throws ChannelClosedException as {@link #send(Object)}
   */
  public abstract boolean send(T value, Duration limit) throws InterruptedException;

  /**
   * Sends a value if that is possible at once; returns whether it was.
   *
   * @throws ChannelClosedException if the channel is closed
   */
  public abstract boolean trySend(T value);

  // ---- receiving ----

  /**
   * Receives the next value; waits for one.
   *
   * @throws ChannelClosedException if the channel is closed and empty, or is while this waits; a
   *     receiver that expects the end calls {@link #receiveOrClosed()}
   * @throws InterruptedException if the caller is interrupted or cancelled; no value was taken
   */
  public abstract T receive() throws InterruptedException;

  /**
   * Receives the next value, or learns that there will be none; waits for one or the other. Empty
   * means the end: the channel is closed, every value that was sent has been received, and each
   * later call returns empty at once.
   *
   * {@snippet class="dev.weft.channel.ChannelSnippetsTest" region="receive-or-closed"}
   *
   * <p>This is the question for a receiver that has to know whether it is done. {@link #isClosed()}
   * answers another question: whether sends fail. To wait for several channels, or for a limited
   * time, use a {@link Select} with {@link #onReceive(Function, Supplier)}.
   *
   * @throws ChannelClosedException if the channel was {@linkplain #closeWithError closed with an
   *     error} and is empty, so that the error is not taken for a normal end; the error is its
   *     cause
   * @throws InterruptedException if the caller is interrupted or cancelled; no value was taken
   */
  public abstract Optional<T> receiveOrClosed() throws InterruptedException;

  /**
   * Receives the next value, but waits only for so long; empty if none came in that time. It does
   * not tell the end of the channel from a slow sender otherwise than by the exception.
   *
   * @throws ChannelClosedException as {@link #receive()}
   */
  public abstract Optional<T> receive(Duration limit) throws InterruptedException;

  /**
   * Receives the next value if there is one now; empty if not, while the channel is open.
   *
   * @throws ChannelClosedException if the channel is closed and empty
   */
  public abstract Optional<T> tryReceive();

  /**
   * Receives value after value until the channel is closed. Several iterators share the values:
   * each value goes to one of them. The iterator throws {@link ChannelClosedException} if the
   * channel was closed with an error, and {@link CancellationException} if the caller is
   * interrupted or cancelled; the interrupt status is set then.
   */
  @Override
  public abstract Iterator<T> iterator();

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
  public abstract Flow.Publisher<T> publisher();

  // ---- select ----

  /**
   * Returns the clause of a {@link Select} that receives a value and then applies a function. If it
   * is chosen at the end of the channel, the select throws {@link ChannelClosedException}.
   */
  public abstract <R> Select.Clause<R> onReceive(Function<T, R> then);

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
  public abstract <R> Select.Clause<R> onReceive(Function<T, R> then, Supplier<R> whenClosed);

  /** Returns the clause of a {@link Select} that sends a value and then calls a supplier. */
  public abstract <R> Select.Clause<R> onSend(T value, Supplier<R> then);

  // ---- closing ----

  /**
   * Closes it: nothing can be sent any more, and waiting senders fail; what is in the buffer can
   * still be received, then receivers fail. Closing it again changes nothing.
   */
  @Override
  public abstract void close();

  /** Closes it; the error is the cause of each {@link ChannelClosedException} from then on. */
  public abstract void closeWithError(Throwable error);

  /**
   * Returns whether it has been closed, which is a sender's question: whether a send would fail. It
   * does not say that there is nothing left to receive: a closed channel still holds the values
   * that were sent before. A receiver asks {@link #receiveOrClosed()}.
   */
  public abstract boolean isClosed();

  /**
   * Returns how many values it holds: sent and not yet received. Senders that wait for a receiver
   * or for room still have their values, so a rendezvous channel always holds 0. Other fibers and
   * threads may have changed the number when this returns; it is for statistics and tests. Whether
   * there is something to receive {@link #tryReceive()} answers, by receiving it.
   */
  public abstract int size();

  /**
   * Returns how many values it can hold before sends wait: 0 for a rendezvous channel, {@link
   * Integer#MAX_VALUE} for an unlimited one. It does not change, not by closing either.
   */
  public abstract int capacity();
}
