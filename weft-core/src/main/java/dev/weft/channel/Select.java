package dev.weft.channel;

import dev.weft.internal.channel.ChannelClause;
import dev.weft.internal.channel.OtherwiseClause;
import dev.weft.internal.channel.Selection;
import dev.weft.internal.channel.SwitchedOffClause;
import dev.weft.internal.channel.TimeoutClause;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Does one of several sends and receives: the first that can be done, a random one if there are
 * several. Nothing happens to the others.
 *
 * {@snippet class="dev.weft.channel.ChannelSnippetsTest" region="select"}
 *
 * <p>Clauses come from {@link Channel#onReceive}, {@link Channel#onSend}, {@link #timeout} and
 * {@link #otherwise}; {@link #when} switches a clause off. Clauses can be used again, also by
 * several fibers at once. A channel may be in several clauses: each is as likely, also if the
 * select had to wait. The function of a clause is called by the selecting fiber, after the choice.
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
    return Selection.select(clauses);
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
   * <p>A select in which all clauses are switched off is refused with an {@link
   * IllegalArgumentException}, since nothing could ever end it.
   *
   * <p>The clause is made before the condition is looked at. A clause that cannot be made while the
   * condition does not hold, such as a send of the head of a queue that may be empty, is added to a
   * list instead: see {@link #of(List)}.
   */
  @SuppressWarnings("unchecked") // it is never chosen, so it returns nothing
  public static <R> Clause<R> when(boolean condition, Clause<R> clause) {
    Objects.requireNonNull(clause, "clause");
    return condition ? clause : (Clause<R>) SwitchedOffClause.INSTANCE;
  }

  /**
   * Returns a clause that is chosen if no other one can be done for so long; of several the
   * shortest counts.
   */
  public static <R> Clause<R> timeout(Duration limit, Supplier<R> then) {
    return new TimeoutClause<>(
        Objects.requireNonNull(limit, "limit"), Objects.requireNonNull(then, "then"));
  }

  /** Returns a clause that is chosen if no other one can be done at once. */
  public static <R> Clause<R> otherwise(Supplier<R> then) {
    return new OtherwiseClause<>(Objects.requireNonNull(then, "then"));
  }

  /**
   * One of the things that a select may do. It does nothing by itself, and can be used again.
   *
   * @param <R> what the select returns
   */
  public abstract static sealed class Clause<R>
      permits ChannelClause, TimeoutClause, OtherwiseClause, SwitchedOffClause {
    /** For Weft's own subclasses. */
    protected Clause() {}
  }
}
