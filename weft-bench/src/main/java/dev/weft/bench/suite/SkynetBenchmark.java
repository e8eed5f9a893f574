package dev.weft.bench.suite;

import dev.weft.Policy;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.BatchMethod;
import dev.weft.channel.Channel;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;
import org.openjdk.jmh.annotations.Benchmark;

/** A tree of fibers, ten to a node, a million leaves: each sends its sum to its parent. */
public class SkynetBenchmark {
  private static final int LEAVES = 1_000_000;
  private static final long SUM = (long) LEAVES * (LEAVES - 1) / 2;
  private static final String TWO_CORES = "-XX:ActiveProcessorCount=2";

  static Comparison comparison() {
    return Go.withBar(
            ChannelBenchmark.policies(
                    Comparison.named(
                        "skynet", "What a tree of 1,111,111 fibers costs, each with a channel."),
                    new BatchMethod(SkynetBenchmark.class, "byDefault", TWO_CORES),
                    new BatchMethod(SkynetBenchmark.class, "fifo", TWO_CORES))
                .contestant(
                    "virtual threads",
                    new BatchMethod(SkynetBenchmark.class, "virtualThreads", TWO_CORES))
                .contestant("Kotlin", new BatchMethod(SkynetBenchmark.class, "kotlin", TWO_CORES)),
            "skynet",
            0.7)
        .bar(Bar.atMost(Metric.TIME, 0.7, "virtual threads"))
        .bar(Bar.atMost(Metric.TIME, 1, "Kotlin"))
        .build();
  }

  /** With fibers and channels of Weft, in FIFO order: all of them are live at once. */
  @Benchmark
  public void fifo() throws Exception {
    run(Scheduler.builder().policy(Policy.fifo()));
  }

  /** Likewise, with the policy that a scheduler has which is given none. */
  @Benchmark
  public void byDefault() throws Exception {
    run(Scheduler.builder());
  }

  private static void run(Scheduler.Builder builder) throws Exception {
    Scheduler scheduler = builder.useCaller(true).build();
    var root = scheduler.go(SkynetBenchmark::skynetOfWeft);
    scheduler.start();
    scheduler.stop();
    check(root.join());
  }

  /** With virtual threads and synchronous queues. */
  @Benchmark
  public void virtualThreads() throws InterruptedException {
    BlockingQueue<Long> result = new SynchronousQueue<>();
    ChannelBenchmark.start(() -> skynet(result, 0, LEAVES));
    check(result.take());
  }

  /** With coroutines and channels of Kotlin. */
  @Benchmark
  public void kotlin() {
    check(KotlinChannels.skynet(LEAVES));
  }

  private static void check(long sum) {
    if (sum != SUM) {
      throw new IllegalStateException("the sum is " + SUM + ", not " + sum);
    }
  }

  private static long skynetOfWeft() throws InterruptedException {
    Channel<Long> result = Channel.rendezvous();
    Weft.go(() -> skynet(result, 0, LEAVES));
    return result.receive();
  }

  private static void skynet(Channel<Long> parent, long number, int size)
      throws InterruptedException {
    if (size == 1) {
      parent.send(number);
      return;
    }
    Channel<Long> results = Channel.rendezvous();
    for (int i = 0; i < 10; i++) {
      long first = number + (long) i * (size / 10);
      Weft.go(() -> skynet(results, first, size / 10));
    }
    long sum = 0;
    for (int i = 0; i < 10; i++) {
      sum += results.receive();
    }
    parent.send(sum);
  }

  private static void skynet(BlockingQueue<Long> parent, long number, int size)
      throws InterruptedException {
    if (size == 1) {
      parent.put(number);
      return;
    }
    BlockingQueue<Long> results = new SynchronousQueue<>();
    for (int i = 0; i < 10; i++) {
      long first = number + (long) i * (size / 10);
      ChannelBenchmark.start(() -> skynet(results, first, size / 10));
    }
    long sum = 0;
    for (int i = 0; i < 10; i++) {
      sum += results.take();
    }
    parent.put(sum);
  }
}
