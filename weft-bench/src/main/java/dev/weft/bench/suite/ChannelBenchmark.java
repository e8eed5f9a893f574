package dev.weft.bench.suite;

import dev.weft.Fiber;
import dev.weft.Policy;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.BatchMethod;
import dev.weft.channel.Channel;
import dev.weft.channel.Select;
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
 * many at once, and by select. Every contestant has two threads, and uses them as it likes; Weft
 * also with its policy for throughput, since the schedulers of all others steal.
 *
 * <p>The file is long because each work stands beside the same work of the other contestants, so
 * that a reader can see that they are equal.
 */
public class ChannelBenchmark {
  private static final int VALUES = 1_000_000;
  private static final int MANY = 10_000;
  private static final int VALUES_OF_MANY = VALUES / MANY;
  private static final String STEALING = "weft.bench.stealing";

  /** The limit for whoever switches: nothing but the switches. */
  private static final String BARE = "bare continuations";

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
    return comparison(
            "channel-buffered",
            "What it costs to hand a value over on a channel with a buffer.",
            "transfer")
        .parameter("capacity", 16, 100)
        .bar(Bar.atMost(Metric.TIME, 1 / 1.5, "jox"))
        .bar(Bar.atMost(Metric.TIME, 1, "Kotlin"))
        .build();
  }

  static Comparison chain() {
    return stealingFirst(
            "channel-chain", "What it costs to pass a value on in a chain of 10,000.", "chain")
        .parameter("capacity", 0, 100)
        .bar(Bar.atMost(Metric.TIME, 1 / 1.5, "jox"))
        .build();
  }

  static Comparison parallel() {
    return stealingFirst(
            "channel-parallel",
            "What it costs to hand a value over, on 10,000 channels at once.",
            "parallel")
        .parameter("capacity", 0, 16, 100)
        .bar(Bar.atMost(Metric.TIME, 1 / 1.5, "jox"))
        .build();
  }

  static Comparison selectOne() {
    return select("channel-select-1", "What it costs to receive by a select of one channel.", 1)
        .bar(Bar.atMost(Metric.TIME, 1 / 1.5, "jox"))
        .build();
  }

  static Comparison selectTwo() {
    return select("channel-select-2", "What it costs to receive by a select of two channels.", 2)
        .bar(Bar.atMost(Metric.TIME, 1 / 3.0, "jox"))
        .build();
  }

  private static Comparison.Builder comparison(String name, String shows, String work) {
    return withPeers(
        Comparison.named(name, shows)
            .contestant("Weft", method(work + "OfWeft"))
            .contestant("Weft, stealing", stealing(work + "OfWeft")),
        work);
  }

  /** With thousands of fibers it is the policy for throughput that is held against the others. */
  private static Comparison.Builder stealingFirst(String name, String shows, String work) {
    return withPeers(
        Comparison.named(name, shows)
            .contestant("Weft, stealing", stealing(work + "OfWeft"))
            .contestant("Weft, fifo", method(work + "OfWeft")),
        work);
  }

  private static Comparison.Builder withPeers(Comparison.Builder ours, String work) {
    return ours.contestant("jox", method(work + "OfJox"))
        .contestant("Kotlin", method(work + "OfKotlin"))
        .contestant("java.util.concurrent", method(work + "OfQueues"));
  }

  private static Comparison.Builder select(String name, String shows, int clauses) {
    return Comparison.named(name, shows)
        .parameter("clauses", clauses)
        .contestant("Weft", method("selectOfWeft"))
        .contestant("Weft, stealing", stealing("selectOfWeft"))
        .contestant("jox", method("selectOfJox"))
        .contestant("Kotlin", method("selectOfKotlin"))
        .contestant(BARE, method("transferOfBare"))
        .bar(Bar.atMost(Metric.TIME, 1, "Kotlin"));
  }

  private static BatchMethod method(String name) {
    return new BatchMethod(ChannelBenchmark.class, name, TWO_CORES);
  }

  private static BatchMethod stealing(String name) {
    return new BatchMethod(ChannelBenchmark.class, name, TWO_CORES, "-D" + STEALING + "=true");
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

  /** How many clauses a select has. */
  @State(Scope.Benchmark)
  public static class Clauses {
    /** 1 or 2. */
    @Param("1")
    public int clauses;
  }

  /** A scheduler with as many threads as there are cores. */
  @State(Scope.Benchmark)
  public static class OfWeft {
    private final Scheduler scheduler =
        Scheduler.builder()
            .policy(Boolean.getBoolean(STEALING) ? Policy.workStealing() : Policy.fifo())
            .build()
            .start();

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
   * as without a buffer there has to be. Who goes on gives a value to the one who waits, then waits
   * with the next.
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

  // ---- select ----

  /** With fibers and channels of Weft. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void selectOfWeft(OfWeft of, Clauses clauses) throws InterruptedException {
    Channel<Integer> one = Channel.rendezvous();
    Channel<Integer> two = Channel.rendezvous();
    List<Fiber<Void>> fibers = new ArrayList<>();
    if (clauses.clauses == 1) {
      fibers.add(of.scheduler.go(() -> send(one, VALUES)));
      fibers.add(
          of.scheduler.go(
              () -> {
                for (int i = 0; i < VALUES; i++) {
                  Select.of(one.onReceive(value -> value));
                }
              }));
    } else {
      fibers.add(of.scheduler.go(() -> send(one, VALUES / 2)));
      fibers.add(of.scheduler.go(() -> send(two, VALUES / 2)));
      fibers.add(
          of.scheduler.go(
              () -> {
                for (int i = 0; i < VALUES; i++) {
                  Select.of(one.onReceive(value -> value), two.onReceive(value -> value));
                }
              }));
    }
    join(fibers);
  }

  /** With virtual threads and channels of jox. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void selectOfJox(Clauses clauses) throws InterruptedException {
    com.softwaremill.jox.Channel<Integer> one = com.softwaremill.jox.Channel.newRendezvousChannel();
    com.softwaremill.jox.Channel<Integer> two = com.softwaremill.jox.Channel.newRendezvousChannel();
    List<Thread> threads = new ArrayList<>();
    if (clauses.clauses == 1) {
      threads.add(start(() -> send(one, VALUES)));
      threads.add(
          start(
              () -> {
                for (int i = 0; i < VALUES; i++) {
                  com.softwaremill.jox.Select.select(one.receiveClause());
                }
              }));
    } else {
      threads.add(start(() -> send(one, VALUES / 2)));
      threads.add(start(() -> send(two, VALUES / 2)));
      threads.add(
          start(
              () -> {
                for (int i = 0; i < VALUES; i++) {
                  com.softwaremill.jox.Select.select(one.receiveClause(), two.receiveClause());
                }
              }));
    }
    joinThreads(threads);
  }

  /** With coroutines and channels of Kotlin. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void selectOfKotlin(Clauses clauses) {
    KotlinChannels.select(clauses.clauses, VALUES);
  }

  // ---- what they share ----

  private static <C> List<C> many(Supplier<C> maker) {
    List<C> channels = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      channels.add(maker.get());
    }
    return channels;
  }

  private static void send(Channel<Integer> channel, int values) throws InterruptedException {
    for (int i = 0; i < values; i++) {
      channel.send(63);
    }
  }

  private static void receive(Channel<Integer> channel, int values) throws InterruptedException {
    for (int i = 0; i < values; i++) {
      channel.receive();
    }
  }

  private static void send(com.softwaremill.jox.Channel<Integer> channel, int values)
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

  private static void join(List<Fiber<Void>> fibers) throws InterruptedException {
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
  }

  private static void joinThreads(List<Thread> threads) throws InterruptedException {
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
            throw new IllegalStateException("nobody interrupts this thread", e);
          }
        });
  }
}
