package dev.weft.stress;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.wait.WaitNode;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Fibers of two schedulers and plain threads pass a few tokens through a wait queue, while they are
 * cancelled, interrupted and time out: no token is lost or duplicated.
 */
final class WaitQueueStress {
  private static final int TOKENS = 3;
  private static final int TAKERS = 12;

  private final SpinLock lock = new SpinLock();
  private final WaitQueue queue = new WaitQueue(lock, "take", "a token");
  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong gaveUp = new AtomicLong();
  private final AtomicInteger held = new AtomicInteger();
  private volatile boolean ends;

  // guarded by lock
  private int tokens = TOKENS;

  private WaitQueueStress() {}

  /** Runs for this many seconds; returns how often a token was taken. */
  static long run(long seconds, long seed, Progress progress) throws InterruptedException {
    return new WaitQueueStress().round(seconds, new SplittableRandom(seed), progress);
  }

  private long round(long seconds, SplittableRandom random, Progress progress)
      throws InterruptedException {
    Scheduler one = Scheduler.builder().threads(1).build().start();
    Scheduler two = Scheduler.builder().threads(2).build().start();
    List<Fiber<Void>> fibers = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    AtomicInteger failures = new AtomicInteger();
    for (int i = 0; i < 2; i++) {
      SplittableRandom own = random.split();
      threads.add(
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    while (!ends) {
                      try {
                        take(own);
                      } catch (InterruptedException e) {
                        gaveUp.incrementAndGet();
                      } catch (RuntimeException e) {
                        failures.incrementAndGet();
                      }
                    }
                  }));
    }
    long start = System.nanoTime();
    long passed = 0;
    for (int i = 0; passed < seconds; i++) {
      passed = (System.nanoTime() - start) / 1_000_000_000L;
      progress.at(passed);
      if (fibers.size() < TAKERS) {
        SplittableRandom own = random.split();
        fibers.add((i % 2 == 0 ? one : two).go(() -> takeUntilTheEnd(own)));
      } else {
        Fiber<Void> victim = fibers.remove(random.nextInt(fibers.size()));
        victim.cancel();
        threads.get(random.nextInt(threads.size())).interrupt();
        try {
          victim.join();
        } catch (CancellationException | CompletionException e) {
          failures.addAndGet(e.getCause() == null ? 0 : 1);
        }
      }
    }
    ends = true;
    one.stop();
    two.stop();
    for (Thread thread : threads) {
      thread.interrupt();
      thread.join();
    }
    check(failures.get() == 0, failures + " participants failed");
    check(tokens == TOKENS, tokens + " tokens are left of " + TOKENS);
    check(queue.isEmpty(), "a waiter is left in the queue");
    check(gaveUp.get() > 0, "no waiter gave up");
    return taken.get();
  }

  private void takeUntilTheEnd(SplittableRandom random) throws InterruptedException {
    while (!ends) {
      take(random);
    }
  }

  private void take(SplittableRandom random) throws InterruptedException {
    if (!acquire(random)) {
      gaveUp.incrementAndGet();
      return;
    }
    try {
      taken.incrementAndGet();
      check(held.incrementAndGet() <= TOKENS, "more tokens are held than exist");
      for (int i = random.nextInt(50); i > 0; i--) {
        Thread.onSpinWait();
      }
      if (random.nextInt(3) == 0) {
        Thread.yield();
      }
      held.decrementAndGet();
    } finally {
      release();
    }
  }

  private boolean acquire(SplittableRandom random) throws InterruptedException {
    Waiter waiter = new Waiter(FiberCore.currentOrNull());
    lock.lock();
    try {
      if (tokens > 0) {
        tokens--;
        return true;
      }
      queue.add(waiter);
    } finally {
      lock.unlock();
    }
    switch (random.nextInt(3)) {
      case 0 -> waiter.await(queue);
      case 1 -> waiter.awaitUninterruptibly(queue);
      default -> {
        return waiter.await(queue, Duration.ofNanos(random.nextInt(200_000)));
      }
    }
    return true;
  }

  private void release() {
    WaitNode next;
    lock.lock();
    try {
      next = queue.poll();
      if (next == null) {
        tokens++;
      }
    } finally {
      lock.unlock();
    }
    if (next != null) {
      next.wake();
    }
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException(what);
    }
  }
}
