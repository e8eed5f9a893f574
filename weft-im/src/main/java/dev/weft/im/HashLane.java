package dev.weft.im;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.Weft;
import dev.weft.im.Refusal.Code;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The way to compute hashes of passwords, of which each takes a core for a while and much memory: a
 * few at a time. Sites take turns, the places of a site take turns for its turn, and callers of one
 * place are served first come, first served, so a site or place that asks for many waits for its
 * own. When the lane is full the newest caller of the longest queue is refused.
 */
final class HashLane {
  /*
   * Invariants, whenever the lock is free:
   *  - running <= width; running < width => nobody is waiting.
   *  - A caller that has its turn has been counted in running.
   */

  /** A caller that waits. */
  private static final class Turn extends CountDownLatch {
    // set before the latch opens, if the caller was refused
    private volatile boolean refused;

    Turn() {
      super(1);
    }
  }

  /**
   * Callers in a row, or several such queues by names, which take turns: the first is that which
   * was served longest ago. Queues without callers are removed.
   */
  private static final class Queue {
    private final Deque<Turn> callers = new ArrayDeque<>(1);
    private final SequencedMap<String, Queue> parts = new LinkedHashMap<>(2);
    private int size;

    void add(List<String> path, Turn turn) {
      size++;
      if (path.isEmpty()) {
        callers.add(turn);
      } else {
        parts
            .computeIfAbsent(path.getFirst(), name -> new Queue())
            .add(path.subList(1, path.size()), turn);
      }
    }

    Turn next() {
      size--;
      Map.Entry<String, Queue> first = parts.pollFirstEntry();
      if (first == null) {
        return callers.remove();
      }
      Turn turn = first.getValue().next();
      if (first.getValue().size > 0) {
        parts.put(first.getKey(), first.getValue()); // behind all others
      }
      return turn;
    }

    /**
     * Takes out the caller to be refused; of queues of one length it is that of the last. The
     * search through all of them costs no more than the query for the user before it.
     */
    Turn newestOfLongest() {
      size--;
      if (parts.isEmpty()) {
        return callers.removeLast();
      }
      String longest = parts.firstEntry().getKey();
      int most = 0;
      for (Map.Entry<String, Queue> part : parts.entrySet()) {
        if (part.getValue().size >= most) {
          longest = part.getKey();
          most = part.getValue().size;
        }
      }
      Turn turn = Objects.requireNonNull(parts.get(longest)).newestOfLongest();
      parts.computeIfPresent(longest, (name, part) -> part.size == 0 ? null : part);
      return turn;
    }

    /** Returns false if the caller is not there any more. */
    boolean remove(List<String> path, Turn turn) {
      boolean removed;
      if (path.isEmpty()) {
        removed = callers.remove(turn);
      } else {
        Queue part = parts.get(path.getFirst());
        removed = part != null && part.remove(path.subList(1, path.size()), turn);
        parts.computeIfPresent(path.getFirst(), (name, left) -> left.size == 0 ? null : left);
      }
      size -= removed ? 1 : 0;
      return removed;
    }
  }

  private final int width;
  private final int mostWaiting;
  private final Duration patience;

  @GuardedBy("this")
  private final Queue waiting = new Queue(); // by sites, then places

  @GuardedBy("this")
  private int running;

  @GuardedBy("this")
  private long done;

  /**
   * Creates it.
   *
   * @param width how many hashes are computed at once
   * @param mostWaiting how many callers may wait
   * @param patience how long a caller waits for its turn at most
   */
  HashLane(int width, int mostWaiting, Duration patience) {
    this.width = width;
    this.mostWaiting = mostWaiting;
    this.patience = patience;
  }

  /**
   * Runs something on a helper thread when it is this place's turn.
   *
   * @throws Refusal if too many wait, or it takes too long
   */
  <T> T run(String place, Callable<T> work) throws Refusal, InterruptedException {
    List<String> path = List.of(Place.siteOf(place), place);
    Turn turn = enter(path);
    if (turn != null) {
      await(path, turn);
    }
    try {
      return Weft.blocking(work);
    } catch (InterruptedException | RuntimeException | Refusal e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("cannot compute the hash of a password", e);
    } finally {
      leave();
    }
  }

  /** Returns how many callers wait for their turn. */
  synchronized int waiting() {
    return waiting.size;
  }

  /** Returns how many callers have had their turn. */
  synchronized long done() {
    return done;
  }

  /** Returns null if it may run at once. */
  private synchronized @Nullable Turn enter(List<String> path) {
    if (running < width) {
      running++;
      return null;
    }
    Turn turn = new Turn();
    waiting.add(path, turn);
    if (waiting.size > mostWaiting) {
      Turn dropped = waiting.newestOfLongest();
      dropped.refused = true;
      dropped.countDown();
    }
    return turn;
  }

  private void await(List<String> path, Turn turn) throws Refusal, InterruptedException {
    boolean came = false;
    try {
      came = turn.await(patience.toNanos(), TimeUnit.NANOSECONDS);
    } finally {
      if (!came) {
        giveUp(path, turn);
      }
    }
    if (!came || turn.refused) {
      throw busy();
    }
  }

  private synchronized void giveUp(List<String> path, Turn turn) {
    if (!waiting.remove(path, turn) && !turn.refused) {
      leave(); // the turn came at that moment
    }
  }

  private synchronized void leave() {
    done++;
    if (waiting.size == 0) {
      running--;
    } else {
      waiting.next().countDown();
    }
  }

  private static Refusal busy() {
    return new Refusal(Code.LIMIT, "too many log in at this moment; try again in a minute");
  }
}
