package dev.weft.internal.channel;

import dev.weft.channel.Select;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.WakeList;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A send or a receive in a select. The methods that do it return the value, which for a send is the
 * value that was sent, or a {@link NoValue}.
 */
public abstract sealed class ChannelClause<R> extends Select.Clause<R> {
  final ChannelCore<?> channel;

  private ChannelClause(ChannelCore<?> channel) {
    this.channel = channel;
  }

  /** Returns whether the operation can be done, or could a moment ago; no lock needed. */
  abstract boolean looksReady();

  /** Does the operation and waits if need be, as outside a select; never returns NOT_NOW. */
  abstract Object doAlone(@Nullable FiberCore<?> self) throws InterruptedException;

  /** Does the operation if it can be done at once, else returns NOT_NOW. */
  abstract Object doNow();

  /** Likewise, with the channel locked by the caller, which wakes the listed waiters later. */
  abstract Object doLocked(WakeList woken);

  /** Returns the queue in which a waiter of this clause waits. */
  abstract WaitQueue queue();

  /** Returns what a waiter of this clause offers: the value of a send, NOT_NOW for a receive. */
  abstract Object item();

  /** Calls the clause's function, for the value or for the end; throws if it has none for that. */
  abstract R finish(Object value);

  @Override
  public String toString() {
    return queue().toString();
  }

  /** Receives. */
  static final class Receive<T, R> extends ChannelClause<R> {
    private final ChannelCore<T> from;
    private final Function<T, R> then;
    private final @Nullable Supplier<R> whenClosed;

    Receive(ChannelCore<T> from, Function<T, R> then, @Nullable Supplier<R> whenClosed) {
      super(from);
      this.from = from;
      this.then = then;
      this.whenClosed = whenClosed;
    }

    @Override
    boolean looksReady() {
      return from.looksReadyToReceive();
    }

    @Override
    Object doAlone(@Nullable FiberCore<?> self) throws InterruptedException {
      return from.receiveAny(self);
    }

    @Override
    Object doNow() {
      return from.receiveNow();
    }

    @Override
    @SuppressWarnings("GuardedBy") // Selection has locked the channels of all its clauses
    Object doLocked(WakeList woken) {
      return from.receiveLocked(woken);
    }

    @Override
    WaitQueue queue() {
      return from.receivers;
    }

    @Override
    Object item() {
      return NoValue.NOT_NOW;
    }

    @Override
    R finish(Object value) {
      if (whenClosed != null && from.isNormalEnd(value)) {
        return whenClosed.get();
      }
      return then.apply(from.valueOf(value));
    }
  }

  /** Sends. */
  static final class Send<T, R> extends ChannelClause<R> {
    private final T value;
    private final Supplier<R> then;

    Send(ChannelCore<T> to, T value, Supplier<R> then) {
      super(to);
      this.value = value;
      this.then = then;
    }

    @Override
    boolean looksReady() {
      return channel.looksReadyToSend();
    }

    @Override
    Object doAlone(@Nullable FiberCore<?> self) throws InterruptedException {
      return channel.sendAny(value, self);
    }

    @Override
    Object doNow() {
      return channel.sendNow(value);
    }

    @Override
    @SuppressWarnings("GuardedBy") // Selection has locked the channels of all its clauses
    Object doLocked(WakeList woken) {
      return channel.sendLocked(value, woken);
    }

    @Override
    WaitQueue queue() {
      return channel.senders;
    }

    @Override
    Object item() {
      return value;
    }

    @Override
    R finish(Object sent) {
      if (sent == NoValue.CLOSED) {
        throw channel.closed("send to");
      }
      return then.get();
    }
  }
}
