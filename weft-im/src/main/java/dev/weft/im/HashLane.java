package dev.weft.im;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.Weft;
import dev.weft.im.Refusal.Code;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The way to compute hashes of passwords, of which each takes a core for a while and much memory: a
 * few at a time. Places take turns, and callers of one place are served first come, first served,
 * so a place that asks for many waits for its own.
 */
final class HashLane {
  /*
   * Invariants, whenever the lock is free:
   *  - running <= width; running < width => waiting is empty.
   *  - Each queue in waiting has a caller. The first queue is that of the place that was served
   *    longest ago.
   *  - A caller that has its turn has been counted in running.
   */
  private final int width;
  private final int mostWaiting;
  private final Duration patience;

  @GuardedBy("this")
  private final Map<String, Deque<CountDownLatch>> waiting = new LinkedHashMap<>();

  @GuardedBy("this")
  private int callers;

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
    CountDownLatch turn = enter(place);
    if (turn != null) {
      await(place, turn);
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
    return callers;
  }

  /** Returns how many callers have had their turn. */
  synchronized long done() {
    return done;
  }

  /** Returns null if it may run at once. */
  private synchronized @Nullable CountDownLatch enter(String place) throws Refusal {
    if (running < width) {
      running++;
      return null;
    }
    if (callers == mostWaiting) {
      throw busy();
    }
    callers++;
    CountDownLatch turn = new CountDownLatch(1);
    waiting.computeIfAbsent(place, name -> new ArrayDeque<>()).add(turn);
    return turn;
  }

  private void await(String place, CountDownLatch turn) throws Refusal, InterruptedException {
    boolean came = false;
    try {
      came = turn.await(patience.toNanos(), TimeUnit.NANOSECONDS);
    } finally {
      if (!came) {
        giveUp(place, turn);
      }
    }
    if (!came) {
      throw busy();
    }
  }

  private synchronized void giveUp(String place, CountDownLatch turn) {
    Deque<CountDownLatch> ofPlace = waiting.get(place);
    if (ofPlace != null && ofPlace.remove(turn)) {
      callers--;
      if (ofPlace.isEmpty()) {
        waiting.remove(place);
      }
    } else {
      leave(); // the turn came at that moment
    }
  }

  private synchronized void leave() {
    done++;
    Iterator<Map.Entry<String, Deque<CountDownLatch>>> places = waiting.entrySet().iterator();
    if (!places.hasNext()) {
      running--;
      return;
    }
    Map.Entry<String, Deque<CountDownLatch>> next = places.next();
    places.remove();
    callers--;
    CountDownLatch turn = next.getValue().remove();
    if (!next.getValue().isEmpty()) {
      waiting.put(next.getKey(), next.getValue()); // behind all others
    }
    turn.countDown();
  }

  private static Refusal busy() {
    return new Refusal(Code.LIMIT, "too many log in at this moment; try again in a minute");
  }
}
