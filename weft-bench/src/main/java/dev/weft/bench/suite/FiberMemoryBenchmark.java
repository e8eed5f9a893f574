package dev.weft.bench.suite;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.run.ForkedProbe;
import dev.weft.channel.Channel;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;

/** The heap that a million waiting fibers take, in a JVM that has 2 GB: asleep, or at a channel. */
public final class FiberMemoryBenchmark {
  private static final String LIMIT = "-Xmx2g";
  private static final String QUEUE = "virtual thread, SynchronousQueue";
  private static final Duration LONG = Duration.ofHours(1);

  private FiberMemoryBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "fiber-memory", "The heap that a fiber takes while it sleeps, all within 2 GB.")
        .parameter("sleeping", 1_000_000)
        .metrics(ParkedMemoryBenchmark.HEAP)
        .contestant("Weft", ForkedProbe.of(OfWeft.class, LIMIT))
        .contestant("virtual thread", ForkedProbe.of(OfVirtualThreads.class, LIMIT))
        .bar(Bar.completes(ParkedMemoryBenchmark.HEAP, "Weft"))
        .bar(Bar.atMost(ParkedMemoryBenchmark.HEAP, 1.2, "virtual thread"))
        .build();
  }

  static Comparison atChannel() {
    Comparison.Builder memory =
        Comparison.named(
                "fiber-memory-channel",
                "The heap that a fiber takes while it receives from a channel, all within 2 GB.")
            .parameter("waiting", 1_000_000)
            .metrics(ParkedMemoryBenchmark.HEAP)
            .contestant("Weft", ForkedProbe.of(AtChannel.class, LIMIT))
            .contestant(QUEUE, ForkedProbe.of(AtSynchronousQueue.class, LIMIT))
            .contestant(
                "virtual thread, LockSupport.park",
                ForkedProbe.of(ParkedMemoryBenchmark.OfVirtualThreads.class, LIMIT));
    return Go.contestant(memory, "waiting-memory", 2)
        .bar(Bar.completes(ParkedMemoryBenchmark.HEAP, "Weft"))
        .bar(Bar.atMost(ParkedMemoryBenchmark.HEAP, 1.2, QUEUE))
        .build();
  }

  /** Parks fibers of one scheduler. */
  abstract static class Fibers extends ParkedMemoryBenchmark.Parked {
    private final Scheduler scheduler = Scheduler.builder().build().start();

    @Override
    final Object park() {
      return scheduler.go(this::outer);
    }

    @Override
    final void awaitParked(Object[] fibers) throws InterruptedException {
      for (Object fiber : fibers) {
        awaitState(((Fiber<?>) fiber).thread(), Thread.State.WAITING);
      }
    }
  }

  /** Puts fibers to sleep. */
  public static final class OfWeft extends Fibers {
    @Override
    void suspend() {
      try {
        Fiber.sleep(LONG);
      } catch (InterruptedException e) {
        throw new IllegalStateException("no code interrupts this fiber", e);
      }
    }
  }

  /** Has fibers receive from a channel that no fiber sends to. */
  public static final class AtChannel extends Fibers {
    private final Channel<Integer> channel = Channel.rendezvous();

    @Override
    void suspend() {
      try {
        channel.receive();
      } catch (InterruptedException e) {
        throw new IllegalStateException("no code interrupts this fiber", e);
      }
    }
  }

  /** Has virtual threads take from a queue that no thread puts into. */
  public static final class AtSynchronousQueue extends ParkedMemoryBenchmark.Parked {
    private final BlockingQueue<Integer> queue = new SynchronousQueue<>();

    @Override
    Object park() {
      return Thread.startVirtualThread(this::outer);
    }

    @Override
    void suspend() {
      try {
        queue.take();
      } catch (InterruptedException e) {
        throw new IllegalStateException("no code interrupts this thread", e);
      }
    }

    @Override
    void awaitParked(Object[] threads) throws InterruptedException {
      for (Object thread : threads) {
        awaitState((Thread) thread, Thread.State.WAITING);
      }
    }
  }

  /** Puts virtual threads to sleep. */
  public static final class OfVirtualThreads extends ParkedMemoryBenchmark.Parked {
    @Override
    Object park() {
      return Thread.startVirtualThread(this::outer);
    }

    @Override
    void suspend() {
      try {
        Thread.sleep(LONG);
      } catch (InterruptedException e) {
        throw new IllegalStateException("no code interrupts this thread", e);
      }
    }

    @Override
    void awaitParked(Object[] threads) throws InterruptedException {
      for (Object thread : threads) {
        awaitState((Thread) thread, Thread.State.TIMED_WAITING);
      }
    }
  }
}
