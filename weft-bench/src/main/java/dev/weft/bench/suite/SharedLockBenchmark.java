package dev.weft.bench.suite;

import dev.weft.Body;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.BatchMethod;
import dev.weft.bench.run.Carriers;
import dev.weft.sync.Semaphore;
import dev.weft.sync.SharedMutex;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * A read-write lock, and a semaphore, for which a hundred fibers on two threads contend. Most
 * holders hold it for a few instructions; now and then one is suspended while it holds it, as by
 * I/O, so that the others come to wait.
 */
public class SharedLockBenchmark {
  private static final int FIBERS = 100;
  private static final int TIMES = 5_000;

  /** Of so many locks of a fiber the last one is to write. */
  private static final int WRITE_EVERY = 100;

  /** Of so many times with a permit the fiber is suspended in one. */
  private static final int YIELD_EVERY = 10;

  private static final String SHARED_PEER = "ReentrantReadWriteLock, virtual threads";
  private static final String SEMAPHORE_PEER = "j.u.c. Semaphore, virtual threads";

  static Comparison readersAndWriters() {
    return Go.contestant(
            Comparison.named(
                    "shared-mutex",
                    "What each lock and unlock costs when 100 fibers on two threads read, and one"
                        + " time in 100 write.")
                .contestant(
                    "SharedMutex, fibers",
                    new BatchMethod(SharedLockBenchmark.class, "sharedOfWeft"))
                .contestant(
                    SHARED_PEER,
                    new BatchMethod(
                        SharedLockBenchmark.class, "sharedOfVirtualThreads", Carriers.of(2))),
            "shared-lock",
            2)
        .bar(Bar.atMost(Metric.TIME, 1, SHARED_PEER))
        .build();
  }

  static Comparison permits() {
    return Go.contestant(
            Comparison.named(
                    "semaphore",
                    "What acquire and release cost when 100 fibers on two threads share permits.")
                .parameter("permits", 1, 10)
                .contestant(
                    "Semaphore, fibers",
                    new BatchMethod(SharedLockBenchmark.class, "semaphoreOfWeft"))
                .contestant(
                    SEMAPHORE_PEER,
                    new BatchMethod(
                        SharedLockBenchmark.class, "semaphoreOfVirtualThreads", Carriers.of(2))),
            "permits",
            2)
        .bar(Bar.atMost(Metric.TIME, 1, SEMAPHORE_PEER))
        .build();
  }

  /** Weft's among fibers. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * TIMES)
  public void sharedOfWeft(Workers.Two of) throws InterruptedException {
    readAndWrite(Crew.fibersOf(of.scheduler), new SharedMutex());
  }

  /** The JDK's among its own virtual threads. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * TIMES)
  public void sharedOfVirtualThreads() throws InterruptedException {
    readAndWrite(Crew.virtualThreads(), new ReentrantReadWriteLock());
  }

  private static void readAndWrite(Crew crew, ReadWriteLock lock) throws InterruptedException {
    long[] written = {0};
    crew.run(Collections.nCopies(FIBERS, () -> readAndWrite(lock, written)));
    if (written[0] != FIBERS * TIMES / WRITE_EVERY) {
      throw new IllegalStateException("the lock does not exclude: " + written[0]);
    }
  }

  private static void readAndWrite(ReadWriteLock lock, long[] written) {
    long last = 0;
    for (int i = 1; i <= TIMES; i++) {
      if (i % WRITE_EVERY == 0) {
        lock.writeLock().lock();
        try {
          written[0]++;
          Thread.yield();
        } finally {
          lock.writeLock().unlock();
        }
      } else {
        lock.readLock().lock();
        try {
          if (written[0] < last) {
            throw new IllegalStateException("a number that only grows has shrunk");
          }
          last = written[0];
        } finally {
          lock.readLock().unlock();
        }
      }
    }
  }

  /** Weft's among fibers. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * TIMES)
  public void semaphoreOfWeft(Workers.Two of, Permits permits) throws InterruptedException {
    Semaphore semaphore = new Semaphore(permits.permits);
    share(Crew.fibersOf(of.scheduler), permits, semaphore::acquire, semaphore::release);
  }

  /** The JDK's among its own virtual threads. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * TIMES)
  public void semaphoreOfVirtualThreads(Permits permits) throws InterruptedException {
    var semaphore = new java.util.concurrent.Semaphore(permits.permits);
    share(Crew.virtualThreads(), permits, semaphore::acquire, semaphore::release);
  }

  private static void share(Crew crew, Permits permits, Body acquire, Runnable release)
      throws InterruptedException {
    AtomicInteger holders = new AtomicInteger();
    crew.run(Collections.nCopies(FIBERS, () -> share(permits.permits, acquire, release, holders)));
  }

  private static void share(int permits, Body acquire, Runnable release, AtomicInteger holders)
      throws Exception {
    for (int i = 1; i <= TIMES; i++) {
      acquire.run();
      try {
        if (holders.incrementAndGet() > permits) {
          throw new IllegalStateException("more fibers hold a permit than there are: " + permits);
        }
        if (i % YIELD_EVERY == 0) {
          Thread.yield();
        }
      } finally {
        holders.decrementAndGet();
        release.run();
      }
    }
  }

  /** How many permits there are. */
  @State(Scope.Thread)
  public static class Permits {
    /** Fewer than fibers. */
    @Param("1")
    public int permits;
  }
}
