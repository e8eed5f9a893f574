package dev.weft.bench.suite;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.BatchMethod;
import dev.weft.bench.run.Carriers;
import dev.weft.bench.run.JmhMethod;
import dev.weft.sync.Mutex;
import java.util.Collections;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * An uncontended lock; one for which a hundred fibers contend, each of which yields once while it
 * holds the lock, as a fiber does that waits for I/O under a lock, so all others come to wait; and
 * one that a hundred fibers hold for an addition.
 */
public class MutexBenchmark {
  private static final int FIBERS = 100;
  private static final int LOCKS = 200;
  private static final int SHORT_LOCKS = 10_000;
  private static final String FAIR = "fair Mutex, fibers";

  static Comparison uncontended() {
    return Comparison.named("mutex", "What it costs to lock and unlock without contention.")
        .contestant("Mutex", new JmhMethod(MutexBenchmark.class, "mutex"))
        .contestant("ReentrantLock", new JmhMethod(MutexBenchmark.class, "reentrantLock"))
        .bar(Bar.atMost(Metric.TIME, 1.2, "ReentrantLock"))
        .build();
  }

  static Comparison onOneThread() {
    return contended("mutex-contended", "on one thread", "One", 1)
        .bar(Bar.atMost(Metric.TIME, 1.1, FAIR))
        .build();
  }

  static Comparison onTwoThreads() {
    return Go.bar(contended("mutex-contended-two", "on two threads", "Two", 2), 1.3).build();
  }

  static Comparison shortOnTwoThreads() {
    return Go.withBar(
            Comparison.named(
                    "mutex-short",
                    "What each lock and unlock costs when 100 fibers on two threads add to a"
                        + " number.")
                .contestant("Mutex, fibers", new BatchMethod(MutexBenchmark.class, "weftShort"))
                .contestant(
                    "ReentrantLock, virtual threads",
                    new BatchMethod(MutexBenchmark.class, "virtualThreadsShort", Carriers.of(2))),
            "lock-short",
            1.3)
        .bar(Bar.atMost(Metric.TIME, 0.5, "ReentrantLock, virtual threads"))
        .build();
  }

  private static Comparison.Builder contended(String name, String where, String many, int threads) {
    String[] carriers = Carriers.of(threads);
    return Go.contestant(
            Comparison.named(
                    name, "What each lock and unlock costs when 100 fibers " + where + " want it.")
                .contestant("Mutex, fibers", new BatchMethod(MutexBenchmark.class, "weft" + many))
                .contestant(FAIR, new BatchMethod(MutexBenchmark.class, "weftFair" + many))
                .contestant(
                    "ReentrantLock, virtual threads",
                    new BatchMethod(MutexBenchmark.class, "virtualThreads", carriers))
                .contestant(
                    "fair ReentrantLock, virtual threads",
                    new BatchMethod(MutexBenchmark.class, "virtualThreadsFair", carriers))
                .contestant(
                    "ReentrantLock, fibers",
                    new BatchMethod(MutexBenchmark.class, "reentrantOnWeft" + many)),
            "lock",
            threads)
        .bar(Bar.atMost(Metric.TIME, 0.5, "ReentrantLock, virtual threads"));
  }

  /** Weft's. */
  @Benchmark
  public long mutex(Free of) {
    of.mutex.lock();
    try {
      return of.count++;
    } finally {
      of.mutex.unlock();
    }
  }

  /** The JDK's. */
  @Benchmark
  public long reentrantLock(Free of) {
    of.reentrant.lock();
    try {
      return of.count++;
    } finally {
      of.reentrant.unlock();
    }
  }

  /** Weft's among fibers of one thread. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * LOCKS)
  public void weftOne(Workers.One of) throws InterruptedException {
    contend(Crew.fibersOf(of.scheduler), new Mutex());
  }

  /** Weft's among fibers of two threads. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * LOCKS)
  public void weftTwo(Workers.Two of) throws InterruptedException {
    contend(Crew.fibersOf(of.scheduler), new Mutex());
  }

  /** Weft's in its fair mode, among fibers of one thread. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * LOCKS)
  public void weftFairOne(Workers.One of) throws InterruptedException {
    contend(Crew.fibersOf(of.scheduler), Mutex.fair());
  }

  /** Weft's in its fair mode, among fibers of two threads. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * LOCKS)
  public void weftFairTwo(Workers.Two of) throws InterruptedException {
    contend(Crew.fibersOf(of.scheduler), Mutex.fair());
  }

  /** The JDK's among fibers of one thread. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * LOCKS)
  public void reentrantOnWeftOne(Workers.One of) throws InterruptedException {
    contend(Crew.fibersOf(of.scheduler), new ReentrantLock());
  }

  /** The JDK's among fibers of two threads. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * LOCKS)
  public void reentrantOnWeftTwo(Workers.Two of) throws InterruptedException {
    contend(Crew.fibersOf(of.scheduler), new ReentrantLock());
  }

  /** The JDK's among its own virtual threads; a thread may take the lock before its waiters. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * LOCKS)
  public void virtualThreads() throws InterruptedException {
    contend(Crew.virtualThreads(), new ReentrantLock());
  }

  /** The JDK's in its fair mode, which is FIFO. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * LOCKS)
  public void virtualThreadsFair() throws InterruptedException {
    contend(Crew.virtualThreads(), new ReentrantLock(true));
  }

  /** Weft's among fibers of two threads, held for an addition. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * SHORT_LOCKS)
  public void weftShort(Workers.Two of) throws InterruptedException {
    add(Crew.fibersOf(of.scheduler), new Mutex());
  }

  /** The JDK's among its own virtual threads, held for an addition. */
  @Benchmark
  @OperationsPerInvocation(FIBERS * SHORT_LOCKS)
  public void virtualThreadsShort() throws InterruptedException {
    add(Crew.virtualThreads(), new ReentrantLock());
  }

  private static void add(Crew crew, Lock lock) throws InterruptedException {
    long[] count = {0};
    crew.run(Collections.nCopies(FIBERS, () -> add(lock, count)));
    if (count[0] != FIBERS * SHORT_LOCKS) {
      throw new IllegalStateException("the lock does not exclude: " + count[0]);
    }
  }

  private static void add(Lock lock, long[] count) {
    for (int i = 0; i < SHORT_LOCKS; i++) {
      lock.lock();
      try {
        count[0]++;
      } finally {
        lock.unlock();
      }
    }
  }

  private static void contend(Crew crew, Lock lock) throws InterruptedException {
    crew.run(Collections.nCopies(FIBERS, () -> contend(lock)));
  }

  private static void contend(Lock lock) {
    for (int i = 0; i < LOCKS; i++) {
      lock.lock();
      try {
        Thread.yield();
      } finally {
        lock.unlock();
      }
    }
  }

  /** One of each, which no fiber holds. */
  @State(Scope.Thread)
  public static class Free {
    private final Mutex mutex = new Mutex();
    private final ReentrantLock reentrant = new ReentrantLock();
    private long count;
  }
}
