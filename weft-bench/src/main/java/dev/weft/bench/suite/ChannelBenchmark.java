package dev.weft.bench.suite;

import dev.weft.Fiber;
import dev.weft.Policy;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.BatchMethod;
import dev.weft.channel.Channel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.function.Supplier;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The benchmarks of jox: a value sent and received, over one channel, through a chain of them, over
 * many at once. {@link SelectBenchmark} has those of select. Every contestant has two threads, and
 * its default scheduler. Weft runs with {@code Policy.fifo()} too.
 */
public class ChannelBenchmark {
  static final int VALUES = 1_000_000;
  private static final int MANY = 10_000;
  private static final int VALUES_OF_MANY = VALUES / MANY;
  private static final String POLICY = "weft.bench.policy";

  /** The JVM flag for {@code Policy.fifo()}. Without it Weft has its default policy. */
  static final String FIFO = "-D" + POLICY + "=fifo";

  /** Weft with {@code Policy.fifo()}. */
  private static final String WEFT_FIFO = "Weft, fifo";

  /** No policy is much worse than the best of the others on its own ground. */
  private static final double OF_OTHER_POLICY = 1.1;

  /** The limit for contestants that switch stacks: the switches alone. */
  static final String BARE = "bare continuations";

  private static final String TWO_CORES = "-XX:ActiveProcessorCount=2";

  static Comparison rendezvous() {
    return comparison(
            "channel-rendezvous",
            "What it costs to hand a value over on a channel without a buffer.",
            "transfer")
        .contestant(BARE, method("transferOfBare"))
        .parameter("capacity", 0)
        .bar(Bar.atMost(Metric.TIME, 1 / 1.5, "jox"))
        .build();
  }

  static Comparison buffered() {
    return Go.bar(
            comparison(
                "channel-buffered",
                "What it costs to hand a value over on a channel with a buffer.",
                "transfer"),
            0.7)
        .parameter("capacity", 16, 100)
        .bar(Bar.atMost(Metric.TIME, 1 / 1.5, "jox"))
        .bar(Bar.atMost(Metric.TIME, 1, "Kotlin"))
        .build();
  }

  static Comparison chain() {
    return comparison(
            "channel-chain", "What it costs to pass a value on in a chain of 10,000.", "chain")
        .parameter("capacity", 0, 100)
        .bar(Bar.atMost(Metric.TIME, 1 / 1.5, "jox"))
        .build();
  }

  static Comparison parallel() {
    return comparison(
            "channel-parallel",
            "What it costs to hand a value over, on 10,000 channels at once.",
            "parallel")
        .parameter("capacity", 0, 16, 100)
        .bar(Bar.atMost(Metric.TIME, 1 / 1.5, "jox"))
        .build();
  }

  private static Comparison.Builder comparison(String name, String shows, String work) {
    return withPeers(
        policies(
            Comparison.named(name, shows), method(work + "OfWeft"), method(work + "OfWeft", FIFO)),
        work);
  }

  /** Adds Weft with its default policy and in FIFO order, and the bar between the two. */
  static Comparison.Builder policies(
      Comparison.Builder comparison, BatchMethod byDefault, BatchMethod fifo) {
    return comparison
        .contestant("Weft", byDefault)
        .contestant(WEFT_FIFO, fifo)
        .bar(Bar.atMost(Metric.TIME, OF_OTHER_POLICY, WEFT_FIFO));
  }

  private static Comparison.Builder withPeers(Comparison.Builder ours, String work) {
    return Go.contestant(
        ours.contestant("jox", method(work + "OfJox"))
            .contestant("Kotlin", method(work + "OfKotlin"))
            .contestant("java.util.concurrent", method(work + "OfQueues")),
        work,
        2);
  }

  static BatchMethod method(String name, String... flags) {
    return methodOf(ChannelBenchmark.class, name, flags);
  }

  /** Returns a method of a class that uses {@link OfWeft}, in a JVM that sees two cores. */
  static BatchMethod methodOf(Class<?> owner, String name, String... flags) {
    List<String> all = new ArrayList<>(List.of(flags));
    all.add(TWO_CORES);
    return new BatchMethod(owner, name, all);
  }

  /** How much a channel holds. */
  @State(Scope.Benchmark)
  public static class Capacity {
    /** 0 is a rendezvous. */
    @Param("0")
    public int capacity;

    <T> Channel<T> ofWeft() {
      return capacity == 0 ? Channel.rendezvous() : Channel.buffered(capacity);
    }

    <T> com.softwaremill.jox.Channel<T> ofJox() {
      return capacity == 0
          ? com.softwaremill.jox.Channel.newRendezvousChannel()
          : com.softwaremill.jox.Channel.newBufferedChannel(capacity);
    }

    <T> BlockingQueue<T> ofJdk() {
      return capacity == 0 ? new SynchronousQueue<>() : new ArrayBlockingQueue<>(capacity);
    }
  }

  /** A scheduler with as many threads as there are cores. */
  @State(Scope.Benchmark)
  public static class OfWeft {
    final Scheduler scheduler = builder().build().start();

    private static Scheduler.Builder builder() {
      Scheduler.Builder builder = Scheduler.builder();
      return System.getProperty(POLICY, "").equals("fifo")
          ? builder.policy(Policy.fifo())
          : builder;
    }

    /** Ends its threads. */
    @TearDown
    public void stop() {
      scheduler.stop();
    }
  }

  // ---- one channel ----

  /** With fibers and channels of Weft. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void transferOfWeft(OfWeft of, Capacity capacity) throws InterruptedException {
    Channel<Integer> channel = capacity.ofWeft();
    join(
        List.of(
            of.scheduler.go(() -> send(channel, VALUES)),
            of.scheduler.go(() -> receive(channel, VALUES))));
  }

  /** With virtual threads and channels of jox. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void transferOfJox(Capacity capacity) throws InterruptedException {
    com.softwaremill.jox.Channel<Integer> channel = capacity.ofJox();
    joinThreads(List.of(start(() -> send(channel, VALUES)), start(() -> receive(channel, VALUES))));
  }

  /** With coroutines and channels of Kotlin. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void transferOfKotlin(Capacity capacity) {
    KotlinChannels.transfer(capacity.capacity, VALUES);
  }

  /** With virtual threads and blocking queues. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void transferOfQueues(Capacity capacity) throws InterruptedException {
    BlockingQueue<Integer> queue = capacity.ofJdk();
    joinThreads(List.of(start(() -> send(queue, VALUES)), start(() -> receive(queue, VALUES))));
  }

  /**
   * With two of the JDK's continuations, without a channel or a scheduler: a switch for each value,
   * as without a buffer there has to be. The side that runs completes a hand-over with the side
   * that waits, begins the next one, and waits in turn: two values for two switches.
   */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void transferOfBare() {
    int[] slots = new int[2];
    long[] sum = {0};
    ContinuationScope scope = new ContinuationScope("bare");
    Continuation sender =
        new Continuation(
            scope,
            () -> {
              for (int i = 0; i < VALUES; i += 2) {
                slots[0] = i;
                slots[1] = i + 1;
                Continuation.yield(scope);
              }
            });
    Continuation receiver =
        new Continuation(
            scope,
            () -> {
              for (int i = 0; i < VALUES; i += 2) {
                sum[0] += slots[0] + slots[1];
                Continuation.yield(scope);
              }
            });
    for (int i = 0; i < VALUES; i += 2) {
      sender.run();
      receiver.run();
    }
    if (sum[0] != (long) VALUES * (VALUES - 1) / 2) {
      throw new IllegalStateException("values were lost: " + sum[0]);
    }
  }

  // ---- a chain ----

  /** With fibers and channels of Weft. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void chainOfWeft(OfWeft of, Capacity capacity) throws InterruptedException {
    List<Channel<Integer>> channels = many(capacity::ofWeft);
    List<Fiber<Void>> fibers = new ArrayList<>();
    fibers.add(of.scheduler.go(() -> send(channels.getFirst(), VALUES_OF_MANY)));
    for (int i = 1; i < MANY; i++) {
      Channel<Integer> from = channels.get(i - 1);
      Channel<Integer> to = channels.get(i);
      fibers.add(
          of.scheduler.go(
              () -> {
                for (int j = 0; j < VALUES_OF_MANY; j++) {
                  to.send(from.receive());
                }
              }));
    }
    fibers.add(of.scheduler.go(() -> receive(channels.getLast(), VALUES_OF_MANY)));
    join(fibers);
  }

  /** With virtual threads and channels of jox. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void chainOfJox(Capacity capacity) throws InterruptedException {
    List<com.softwaremill.jox.Channel<Integer>> channels = many(capacity::ofJox);
    List<Thread> threads = new ArrayList<>();
    threads.add(start(() -> send(channels.getFirst(), VALUES_OF_MANY)));
    for (int i = 1; i < MANY; i++) {
      com.softwaremill.jox.Channel<Integer> from = channels.get(i - 1);
      com.softwaremill.jox.Channel<Integer> to = channels.get(i);
      threads.add(
          start(
              () -> {
                for (int j = 0; j < VALUES_OF_MANY; j++) {
                  to.send(from.receive());
                }
              }));
    }
    threads.add(start(() -> receive(channels.getLast(), VALUES_OF_MANY)));
    joinThreads(threads);
  }

  /** With coroutines and channels of Kotlin. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void chainOfKotlin(Capacity capacity) {
    KotlinChannels.chain(capacity.capacity, MANY, VALUES_OF_MANY);
  }

  /** With virtual threads and blocking queues. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void chainOfQueues(Capacity capacity) throws InterruptedException {
    List<BlockingQueue<Integer>> queues = many(capacity::ofJdk);
    List<Thread> threads = new ArrayList<>();
    threads.add(start(() -> send(queues.getFirst(), VALUES_OF_MANY)));
    for (int i = 1; i < MANY; i++) {
      BlockingQueue<Integer> from = queues.get(i - 1);
      BlockingQueue<Integer> to = queues.get(i);
      threads.add(
          start(
              () -> {
                for (int j = 0; j < VALUES_OF_MANY; j++) {
                  to.put(from.take());
                }
              }));
    }
    threads.add(start(() -> receive(queues.getLast(), VALUES_OF_MANY)));
    joinThreads(threads);
  }

  // ---- many channels ----

  /** With fibers and channels of Weft. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void parallelOfWeft(OfWeft of, Capacity capacity) throws InterruptedException {
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      Channel<Integer> channel = capacity.ofWeft();
      fibers.add(of.scheduler.go(() -> send(channel, VALUES_OF_MANY)));
      fibers.add(of.scheduler.go(() -> receive(channel, VALUES_OF_MANY)));
    }
    join(fibers);
  }

  /** With virtual threads and channels of jox. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void parallelOfJox(Capacity capacity) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      com.softwaremill.jox.Channel<Integer> channel = capacity.ofJox();
      threads.add(start(() -> send(channel, VALUES_OF_MANY)));
      threads.add(start(() -> receive(channel, VALUES_OF_MANY)));
    }
    joinThreads(threads);
  }

  /** With coroutines and channels of Kotlin. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void parallelOfKotlin(Capacity capacity) {
    KotlinChannels.parallel(capacity.capacity, MANY, VALUES_OF_MANY);
  }

  /** With virtual threads and blocking queues. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void parallelOfQueues(Capacity capacity) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      BlockingQueue<Integer> queue = capacity.ofJdk();
      threads.add(start(() -> send(queue, VALUES_OF_MANY)));
      threads.add(start(() -> receive(queue, VALUES_OF_MANY)));
    }
    joinThreads(threads);
  }

  // ---- what they share ----

  private static <C> List<C> many(Supplier<C> maker) {
    List<C> channels = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      channels.add(maker.get());
    }
    return channels;
  }

  static void send(Channel<Integer> channel, int values) throws InterruptedException {
    for (int i = 0; i < values; i++) {
      channel.send(63);
    }
  }

  private static void receive(Channel<Integer> channel, int values) throws InterruptedException {
    for (int i = 0; i < values; i++) {
      channel.receive();
    }
  }

  static void send(com.softwaremill.jox.Channel<Integer> channel, int values)
      throws InterruptedException {
    for (int i = 0; i < values; i++) {
      channel.send(63);
    }
  }

  private static void receive(com.softwaremill.jox.Channel<Integer> channel, int values)
      throws InterruptedException {
    for (int i = 0; i < values; i++) {
      channel.receive();
    }
  }

  private static void send(BlockingQueue<Integer> queue, int values) throws InterruptedException {
    for (int i = 0; i < values; i++) {
      queue.put(63);
    }
  }

  private static void receive(BlockingQueue<Integer> queue, int values)
      throws InterruptedException {
    for (int i = 0; i < values; i++) {
      queue.take();
    }
  }

  static void join(List<Fiber<Void>> fibers) throws InterruptedException {
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
  }

  static void joinThreads(List<Thread> threads) throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
  }

  /** A body of a virtual thread. */
  interface Body {
    /** Does it. */
    void run() throws InterruptedException;
  }

  static Thread start(Body body) {
    return Thread.startVirtualThread(
        () -> {
          try {
            body.run();
          } catch (InterruptedException e) {
            throw new IllegalStateException("no code interrupts this thread", e);
          }
        });
  }
}
