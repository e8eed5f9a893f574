package dev.weft.bench.suite;

import dev.weft.Coroutine;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedProbe;
import dev.weft.bench.run.Probe;
import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;

/** The heap that a million parked, shallow coroutines take, in a JVM that has 1 GB. */
public final class ParkedMemoryBenchmark {
  static final Metric HEAP = new Metric("heap", "bytes each", Metric.Better.LESS);
  private static final String LIMIT = "-Xmx1g";

  private ParkedMemoryBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "parked-memory", "The heap that a coroutine takes while it is parked, all within 1 GB.")
        .parameter("parked", 1_000_000)
        .metrics(HEAP)
        .contestant("Weft", ForkedProbe.of(OfWeft.class, LIMIT))
        .contestant("raw continuation", ForkedProbe.of(OfRaw.class, LIMIT))
        .contestant("virtual thread", ForkedProbe.of(OfVirtualThreads.class, LIMIT))
        .bar(Bar.completes(HEAP, "Weft"))
        .build();
  }

  /** Parks Weft coroutines. */
  public static final class OfWeft extends Parked {
    @Override
    Object park() {
      Coroutine coroutine = Coroutine.of(this::outer);
      coroutine.resume();
      return coroutine;
    }

    @Override
    void suspend() {
      Coroutine.yield();
    }
  }

  /** Parks continuations of the JDK. */
  public static final class OfRaw extends Parked {
    private static final ContinuationScope SCOPE = new ContinuationScope("raw");

    @Override
    Object park() {
      Continuation continuation = new Continuation(SCOPE, this::outer);
      continuation.run();
      return continuation;
    }

    @Override
    void suspend() {
      Continuation.yield(SCOPE);
    }
  }

  /** Parks virtual threads. */
  public static final class OfVirtualThreads extends Parked {
    @Override
    Object park() {
      return Thread.ofVirtual().start(this::outer);
    }

    @Override
    void suspend() {
      LockSupport.park(this);
    }

    @Override
    void awaitParked(Object[] threads) throws InterruptedException {
      for (Object thread : threads) {
        awaitState((Thread) thread, Thread.State.WAITING);
      }
    }
  }

  /** Compares the used heap, each time after a collection, before and after parking them all. */
  abstract static class Parked implements Probe {
    @Override
    public final Map<String, Double> measure(String parameter, boolean quick)
        throws InterruptedException {
      Object[] parked = new Object[Integer.parseInt(parameter)];
      try {
        long before = usedHeap();
        for (int i = 0; i < parked.length; i++) {
          parked[i] = park();
        }
        awaitParked(parked);
        return Map.of(HEAP.name(), (double) (usedHeap() - before) / parked.length);
      } finally {
        Reference.reachabilityFence(parked);
      }
    }

    /** Creates one and lets it run {@link #outer} until it is parked. */
    abstract Object park();

    abstract void suspend();

    void awaitParked(Object[] parked) throws InterruptedException {}

    static void awaitState(Thread thread, Thread.State state) throws InterruptedException {
      while (thread.getState() != state) {
        Thread.sleep(1);
      }
    }

    /** The first of two frames of user code on each stack. */
    final void outer() {
      inner();
    }

    private void inner() {
      suspend();
    }

    private static long usedHeap() {
      System.gc();
      return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
  }
}
