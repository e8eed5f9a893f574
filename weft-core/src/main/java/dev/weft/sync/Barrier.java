package dev.weft.sync;

import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.Waiter;
import dev.weft.internal.wait.WakeList;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A point that a number of parties pass together, round after round: each waits for the last one.
 *
 * {@snippet class="dev.weft.sync.SyncSnippetsTest" region="barrier"}
 *
 * <p>A party that gives up has not arrived: the others go on waiting, until another comes in its
 * place. That differs from {@link java.util.concurrent.CyclicBarrier}, which breaks for all.
 */
public final class Barrier {
  /*
   * Invariants, under the guard:
   *  - arrived has the waiters that have arrived in this round and not withdrawn, in their order;
   *    fewer than parties. Each gets its number when the round ends, before it is chosen.
   *  - The last to arrive ends the round. A waiter that gives up withdraws under the guard, and only
   *    in the round in which it arrived; if that is over it has passed, whatever woke it. So no
   *    round ends with one waiter too few, and no waiter that was counted is left behind.
   */
  private final SpinLock guard = new SpinLock();
  private final WaitQueue queue = new WaitQueue(guard, "the others at", this);
  private final int parties;
  private final List<Waiter> arrived = new ArrayList<>();
  private long round;

  /**
   * Creates a barrier.
   *
   * @param parties how many pass together, at least 1
   */
  public Barrier(int parties) {
    if (parties < 1) {
      throw new IllegalArgumentException("parties must be at least 1, not " + parties);
    }
    this.parties = parties;
  }

  /**
   * Waits until all parties have arrived; returns how many had before the caller, so 0 for the
   * first and {@code parties - 1} for the last.
   *
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline
   */
  public int await() throws InterruptedException {
    Waiter waiter = new Waiter(CurrentFiber.enterWait());
    long mine = arrive(waiter);
    if (mine >= 0) {
      try {
        waiter.await(queue);
      } catch (InterruptedException e) {
        if (withdraw(waiter, mine)) {
          throw e;
        }
        Thread.currentThread().interrupt(); // too late: it has passed
      }
    }
    return waiter.amount;
  }

  /** Waits until all parties have arrived, for so long; returns whether they have. */
  public boolean await(Duration limit) throws InterruptedException {
    Objects.requireNonNull(limit, "limit");
    Waiter waiter = new Waiter(CurrentFiber.enterWait());
    long mine = arrive(waiter);
    if (mine < 0) {
      return true;
    }
    try {
      return waiter.await(queue, limit) || !withdraw(waiter, mine);
    } catch (InterruptedException e) {
      if (withdraw(waiter, mine)) {
        throw e;
      }
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** Returns how many pass together. */
  public int parties() {
    return parties;
  }

  /** Counts a waiter; returns its round, or -1 if it is the last, which need not wait. */
  private long arrive(Waiter waiter) {
    WakeList woken = new WakeList();
    guard.lock();
    try {
      arrived.add(waiter);
      if (arrived.size() < parties) {
        queue.add(waiter);
        return round;
      }
      for (int i = 0; i < parties; i++) {
        arrived.get(i).amount = i;
      }
      arrived.clear();
      round++;
      queue.pollAll(woken);
    } finally {
      guard.unlock();
    }
    woken.wake();
    return -1;
  }

  /** Takes the caller's arrival back; returns false if its round is over. */
  private boolean withdraw(Waiter waiter, long mine) {
    guard.lock();
    try {
      if (round != mine) {
        return false;
      }
      arrived.remove(waiter);
      return true;
    } finally {
      guard.unlock();
    }
  }

  @Override
  public String toString() {
    return "barrier " + Integer.toHexString(System.identityHashCode(this));
  }
}
