package dev.weft.channel;

import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.WakeList;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Does one of several sends and receives: the first that can be done, a random one if there are
 * several. Nothing happens to the others.
 *
 * {@snippet class="dev.weft.channel.ChannelSnippetsTest" region="select"}
 *
 * <p>Clauses come from {@link Channel#onReceive}, {@link Channel#onSend}, {@link #timeout} and
 * {@link #otherwise}; {@link #when} switches one off. They can be used again, also by several
 * fibers at once. A channel may be in several clauses: each is as likely, also if the select had to
 * wait. What is to be done then is called by the selecting fiber, after the choice.
 */
public final class Select {
  private Select() {}

  /**
   * Waits for the first of the clauses that can be done, does it, and returns what its function
   * returns.
   *
   * @throws ChannelClosedException if the chosen one is a send to a closed channel or a receive
   *     from a closed and empty one: these can be done at once, by failing. A receive {@linkplain
   *     Channel#onReceive(Function, Supplier) with a supplier for the end} fails only if the
   *     channel was closed with an error
   * @throws IllegalArgumentException if there is no clause, if all are {@linkplain #when switched
   *     off}, or if there is more than one {@code otherwise}
   * @throws InterruptedException if the caller is interrupted or cancelled; nothing was done
   */
  @SafeVarargs
  @SuppressWarnings("varargs") // they are only read
  public static <R> R of(Clause<R>... clauses) throws InterruptedException {
    FiberCore<?> self = CurrentFiber.enterWait();
    if (clauses.length == 1 && clauses[0] instanceof OfChannel<R> only) {
      return only.finish(only.doAlone(self));
    }
    OfChannel<R> ready = Selection.readyOf(clauses);
    if (ready != null) {
      Object value = ready.doNow();
      if (value != Channel.NOTHING) {
        return ready.finish(value);
      }
    }
    return new Selection<>(clauses).select(self);
  }

  /**
   * Does one of the clauses in a list, which may differ from call to call: see {@link
   * #of(Clause...)}. The list is read once.
   */
  @SuppressWarnings("unchecked") // an array of what is in the list
  public static <R> R of(List<Clause<R>> clauses) throws InterruptedException {
    Objects.requireNonNull(clauses, "clauses");
    return of((Clause<R>[]) clauses.toArray(new Clause<?>[0]));
  }

  /**
   * Returns the clause itself if the condition holds, else one that is never chosen, as if it were
   * not there: a channel is not looked at, a {@code timeout} does not end the wait, an {@code
   * otherwise} does not prevent it. The condition is looked at once, here.
   *
   * {@snippet class="dev.weft.channel.ChannelSnippetsTest" region="when"}
   *
   * <p>A select whose clauses are all switched off is refused with an {@link
   * IllegalArgumentException}, since nothing could ever end it.
   *
   * <p>The clause is made before the condition is looked at. A clause that cannot be made while the
   * condition does not hold, such as a send of the head of a queue that may be empty, is added to a
   * list instead: see {@link #of(List)}.
   */
  @SuppressWarnings("unchecked") // it is never chosen, so it returns nothing
  public static <R> Clause<R> when(boolean condition, Clause<R> clause) {
    Objects.requireNonNull(clause, "clause");
    return condition ? clause : (Clause<R>) SwitchedOff.CLAUSE;
  }

  /**
   * Returns a clause that is chosen if no other one can be done for so long; of several the
   * shortest counts.
   */
  public static <R> Clause<R> timeout(Duration limit, Supplier<R> then) {
    return new Timeout<>(
        Objects.requireNonNull(limit, "limit"), Objects.requireNonNull(then, "then"));
  }

  /** Returns a clause that is chosen if no other one can be done at once. */
  public static <R> Clause<R> otherwise(Supplier<R> then) {
    return new Otherwise<>(Objects.requireNonNull(then, "then"));
  }

  /**
   * One of the things that a select may do. It does nothing by itself, and can be used again.
   *
   * @param <R> what the select returns
   */
  public abstract static sealed class Clause<R> {
    private Clause() {}
  }

  /** A send or a receive. The value of a send that was done is the value itself. */
  abstract static sealed class OfChannel<R> extends Clause<R> {
    final Channel<?> channel;

    private OfChannel(Channel<?> channel) {
      this.channel = channel;
    }

    /** Returns whether it can be done, or could a moment ago; no lock needed. */
    abstract boolean looksReady();

    /** Does it, and waits if need be, as if there were no select; returns the value or CLOSED. */
    abstract Object doAlone(@Nullable FiberCore<?> self) throws InterruptedException;

    /** Does it, if it can be done at once; returns the value, NOTHING or CLOSED. */
    abstract Object doNow();

    /** Likewise, for one who holds the lock of the channel and will wake whom it meets. */
    abstract Object doLocked(WakeList woken);

    /** Where it waits. */
    abstract WaitQueue queue();

    /** What it brings along when it waits; the value, NOTHING for a receive. */
    abstract Object item();

    /** Calls what is to be done then, with the value or at the end; throws if nothing is. */
    abstract R finish(Object value);

    @Override
    public String toString() {
      return queue().toString();
    }
  }

  /** Receives. */
  static final class Receive<T, R> extends OfChannel<R> {
    private final Channel<T> from;
    private final Function<T, R> then;
    private final @Nullable Supplier<R> whenClosed;

    Receive(Channel<T> from, Function<T, R> then, @Nullable Supplier<R> whenClosed) {
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
    Object doLocked(WakeList woken) {
      return from.receiveLocked(woken);
    }

    @Override
    WaitQueue queue() {
      return from.receivers;
    }

    @Override
    Object item() {
      return Channel.NOTHING;
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
  static final class Send<T, R> extends OfChannel<R> {
    private final T value;
    private final Supplier<R> then;

    Send(Channel<T> to, T value, Supplier<R> then) {
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
      if (sent == Channel.CLOSED) {
        throw channel.closed("send to");
      }
      return then.get();
    }
  }

  /** Gives up after a while. */
  static final class Timeout<R> extends Clause<R> {
    final Duration limit;
    final Supplier<R> then;

    private Timeout(Duration limit, Supplier<R> then) {
      this.limit = limit;
      this.then = then;
    }

    @Override
    public String toString() {
      return "a timeout of " + limit;
    }
  }

  /** Gives up at once. */
  static final class Otherwise<R> extends Clause<R> {
    final Supplier<R> then;

    private Otherwise(Supplier<R> then) {
      this.then = then;
    }
  }

  /** Is never chosen. */
  static final class SwitchedOff<R> extends Clause<R> {
    private static final SwitchedOff<?> CLAUSE = new SwitchedOff<>();

    private SwitchedOff() {}
  }
}
