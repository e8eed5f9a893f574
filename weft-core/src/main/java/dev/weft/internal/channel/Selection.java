package dev.weft.internal.channel;

import dev.weft.channel.Select.Clause;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.wait.WaitNode;
import dev.weft.internal.wait.Waiter;
import dev.weft.internal.wait.WakeList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * One select that may have to wait. As in Go:
 *
 * <pre>
 *   lock     all channels, in the order of their ids, so that no two selects wait for each other
 *   look     for what can be done, and do one of that, if there is any
 *   queue    else a place of one waiter at each channel
 *   unlock   all
 *   wait     until a sender, a receiver or a close chooses one of the places, which ends the wait at all of them
 *   leave    the places that were not chosen
 * </pre>
 *
 * <p>No place is queued before nothing was found ready under all locks: so a select never meets
 * itself, and a sender or receiver that finds one of its places finds it waiting or decided.
 */
public final class Selection<R> {
  /** Lots are drawn from this many: no select has anywhere near as many clauses. */
  private static final int LOTS = 1 << 24;

  private final Clause<R>[] clauses;

  // the channels, each once, in the order of their ids
  private final ChannelCore<?>[] channels;
  private int channelCount;
  private boolean repeatsAChannel;

  private @Nullable TimeoutClause<R> timeout;
  private @Nullable OtherwiseClause<R> otherwise;

  // a place for each clause that has one, while it waits; its amount is the clause's index
  private @Nullable WaitNode @Nullable [] places;

  /** Does one of the clauses: see {@link dev.weft.channel.Select#of}. */
  public static <R> R select(Clause<R>[] clauses) throws InterruptedException {
    FiberCore<?> self = CurrentFiber.enterWait();
    if (clauses.length == 1 && clauses[0] instanceof ChannelClause<R> only) {
      return only.finish(only.doAlone(self));
    }
    ChannelClause<R> ready = readyOf(clauses);
    if (ready != null) {
      Object value = ready.doNow();
      if (value != NoValue.NOT_NOW) {
        return ready.finish(value);
      }
    }
    return new Selection<>(clauses).select(self);
  }

  private Selection(Clause<R>[] clauses) {
    this.channels = new ChannelCore<?>[clauses.length];
    for (Clause<R> clause : clauses) {
      switch (clause) {
        case ChannelClause<R> of -> insert(of.channel);
        case TimeoutClause<R> limit -> timeout = shorter(timeout, limit);
        case OtherwiseClause<R> other -> otherwise = other;
        case SwitchedOffClause<R> _ -> {}
      }
    }
    if (channelCount == 0 && timeout == null && otherwise == null) {
      throw new IllegalArgumentException(
          clauses.length == 0
              ? "select needs at least one clause"
              : "cannot select: Select.when has switched off every clause ("
                  + clauses.length
                  + "), so it would wait for ever; keep one switched on, a timeout or otherwise too,"
                  + " or do not select any more");
    }
    // of several places in one queue the first is chosen, so their order is to be random
    this.clauses = repeatsAChannel ? shuffled(clauses) : clauses;
  }

  /** Returns the clauses in a random order; the caller's array stays as it is. */
  private static <R> Clause<R>[] shuffled(Clause<R>[] clauses) {
    Clause<R>[] copy = clauses.clone();
    Collections.shuffle(Arrays.asList(copy), ThreadLocalRandom.current());
    return copy;
  }

  private void insert(ChannelCore<?> channel) {
    int i = channelCount;
    while (i > 0 && channels[i - 1].id > channel.id) {
      i--;
    }
    if (i == 0 || channels[i - 1] != channel) {
      System.arraycopy(channels, i, channels, i + 1, channelCount - i);
      channels[i] = channel;
      channelCount++;
    } else {
      repeatsAChannel = true;
    }
  }

  private static <R> TimeoutClause<R> shorter(
      @Nullable TimeoutClause<R> one, TimeoutClause<R> other) {
    return one == null || other.limit.compareTo(one.limit) < 0 ? other : one;
  }

  /**
   * Returns one of the clauses that seem to be ready, each as likely as the others, or null.
   * Refuses bad clauses on the way, so that they are refused also if something is ready.
   */
  private static <R> @Nullable ChannelClause<R> readyOf(Clause<R>[] clauses) {
    ChannelClause<R> found = null;
    int count = 0;
    int others = 0;
    for (Clause<R> clause : clauses) {
      if (clause instanceof ChannelClause<R> of) {
        if (of.looksReady() && drawsLot(++count)) {
          found = of;
        }
      } else if (Objects.requireNonNull(clause, "clause") instanceof OtherwiseClause<R>
          && ++others > 1) {
        throw new IllegalArgumentException("select takes one otherwise, not two");
      }
    }
    return found;
  }

  /** Draws for the latest of count clauses: if it wins, it replaces the winner so far. */
  private static boolean drawsLot(int count) {
    return count == 1 || ThreadLocalRandom.current().nextInt(LOTS) % count == 0;
  }

  private R select(@Nullable FiberCore<?> self) throws InterruptedException {
    WakeList woken = new WakeList();
    ChannelClause<R> done;
    Object value = NoValue.NOT_NOW;
    Waiter waiter = null;
    int locked = 0;
    try {
      while (locked < channelCount) {
        channels[locked].lock.lock();
        locked++;
      }
      // what looks ready may be a waiter that has just given up: doing it drops that waiter
      do {
        done = readyOf(clauses);
      } while (done != null && (value = done.doLocked(woken)) == NoValue.NOT_NOW);
      if (done == null && otherwise == null) {
        waiter = new Waiter(self);
        queue(waiter);
      }
    } finally {
      while (locked > 0) {
        channels[--locked].lock.unlock();
      }
    }
    woken.wake();
    if (done != null) {
      return done.finish(value);
    }
    return waiter == null ? Objects.requireNonNull(otherwise).then.get() : await(waiter);
  }

  private void queue(Waiter waiter) {
    @Nullable WaitNode[] queued = new WaitNode[clauses.length];
    places = queued;
    WaitNode place = waiter;
    for (int i = 0; i < queued.length; i++) {
      if (clauses[i] instanceof ChannelClause<R> of) {
        place = place == null ? new WaitNode(waiter) : place;
        place.amount = i;
        place.item = of.item();
        of.queue().add(place);
        queued[i] = place;
        place = null;
      }
    }
  }

  private R await(Waiter waiter) throws InterruptedException {
    TimeoutClause<R> limit = timeout;
    try {
      if (limit == null) {
        waiter.await(this);
      } else if (!waiter.await(this, limit.limit)) {
        leave();
        return limit.then.get();
      }
    } finally {
      leave();
    }
    WaitNode chosen = waiter.chosen();
    return ((ChannelClause<R>) clauses[chosen.amount]).finish(Objects.requireNonNull(chosen.item));
  }

  private void leave() {
    for (WaitNode place : Objects.requireNonNull(places)) {
      if (place != null) {
        place.leave();
      }
    }
  }

  /** Returns what it waits for. */
  @Override
  public String toString() {
    StringJoiner all = new StringJoiner(", or ");
    for (Clause<R> clause : clauses) {
      if (!(clause instanceof SwitchedOffClause<R>)) {
        all.add(clause.toString());
      }
    }
    return all.toString();
  }
}
