package dev.weft.internal.attach;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.SetApart;
import dev.weft.internal.sched.Worker;
import dev.weft.internal.watch.Watchdog;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that reads, 200 times a second, which fiber runs on each worker. A fiber that ran in a
 * tenth of the samples of a second has had about a tenth of a core; the shortest slices are missed,
 * but in the long run not more often than their share.
 *
 * <p>The thread waits while the samples are not taken: a screen that is paused or whose process is
 * stopped costs nothing, and the samples need no more memory than some seconds of them.
 */
final class Sampler implements AutoCloseable {
  private static final long PERIOD_NANOS = 5_000_000;

  /** After so many samples that are not taken the thread waits: 10 s. */
  private static final int MOST_SAMPLES = 2_000;

  private final int most;
  private final Object lock = new Object();

  @GuardedBy("lock")
  private Samples current = new Samples();

  @GuardedBy("lock")
  private boolean closed;

  // fibers that computing threads run instead of workers, as the last walk found them
  private volatile List<FiberCore<?>> apart = List.of();

  Sampler() {
    this(MOST_SAMPLES);
  }

  Sampler(int most) {
    this.most = most;
    Thread.ofPlatform()
        .daemon()
        .name("weft-attach-sampler")
        .inheritInheritableThreadLocals(false)
        .start(this::run);
  }

  /** What was seen since the last {@link #take}. */
  static final class Samples {
    private final Map<Long, Integer> ofFiber = new HashMap<>();
    private final Map<Worker, Integer> ofWorker = new HashMap<>();
    private int number;

    private void add(List<FiberCore<?>> apart) {
      number++;
      for (FiberCore<?> fiber : apart) {
        if (fiber.away instanceof SetApart computing && computing.isOnHelper()) {
          ofFiber.merge(fiber.id(), 1, Integer::sum);
        }
      }
      for (SchedulerCore scheduler : Watchdog.schedulers()) {
        for (Worker worker : scheduler.workers) {
          long running = worker.running();
          if (running != 0) {
            ofFiber.merge(running, 1, Integer::sum);
            ofWorker.merge(worker, 1, Integer::sum);
          } else if (worker.isServing() && !worker.isAsleep()) {
            ofWorker.merge(worker, 1, Integer::sum); // between two slices
          }
        }
      }
    }

    int number() {
      return number;
    }

    /** In how many samples the fiber ran. */
    int of(long fiber) {
      return ofFiber.isEmpty() ? 0 : ofFiber.getOrDefault(fiber, 0);
    }

    /** In how many samples the worker did not sleep. */
    int busy(Worker worker) {
      return ofWorker.getOrDefault(worker, 0);
    }
  }

  /** Names the fibers that are set apart: no worker shows when these run. */
  void watch(List<FiberCore<?>> setApart) {
    apart = setApart;
  }

  /** Returns the samples since the last call. */
  Samples take() {
    synchronized (lock) {
      Samples taken = current;
      current = new Samples();
      lock.notifyAll();
      return taken;
    }
  }

  private void run() {
    while (sample()) {
      LockSupport.parkNanos(PERIOD_NANOS);
    }
  }

  /** Takes a sample, as soon as one is wanted; returns false if none is wanted any more. */
  private boolean sample() {
    synchronized (lock) {
      try {
        while (current.number >= most && !closed) {
          lock.wait();
        }
      } catch (InterruptedException e) {
        return false; // nothing of Weft's interrupts this thread
      }
      current.add(apart);
      return !closed;
    }
  }

  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      lock.notifyAll();
    }
  }
}
