package dev.weft.bench.suite;

import static dev.weft.bench.suite.ChannelBenchmark.VALUES;

import dev.weft.Fiber;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.BatchMethod;
import dev.weft.channel.Channel;
import dev.weft.channel.Select;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * The benchmarks of jox for select, and one with four clauses: a sender for each channel, and one
 * receiver, which selects among the channels. Threads and policies as in {@link ChannelBenchmark}.
 */
public class SelectBenchmark {
  static Comparison one() {
    return select("channel-select-1", "What it costs to receive by a select of one channel.", 1)
        .bar(Bar.atMost(Metric.TIME, 1 / 1.5, "jox"))
        .build();
  }

  static Comparison two() {
    return select("channel-select-2", "What it costs to receive by a select of two channels.", 2)
        .bar(Bar.atMost(Metric.TIME, 1 / 3.0, "jox"))
        .build();
  }

  static Comparison four() {
    return select("channel-select-4", "What it costs to receive by a select of four channels.", 4)
        .build();
  }

  private static Comparison.Builder select(String name, String shows, int clauses) {
    return Go.withBar(
            ChannelBenchmark.policies(
                    Comparison.named(name, shows).parameter("clauses", clauses),
                    method("selectOfWeft"),
                    method("selectOfWeft", ChannelBenchmark.FIFO))
                .contestant("jox", method("selectOfJox"))
                .contestant("Kotlin", method("selectOfKotlin"))
                .contestant(ChannelBenchmark.BARE, ChannelBenchmark.method("transferOfBare")),
            "select",
            1.1)
        .bar(Bar.atMost(Metric.TIME, 1, "Kotlin"));
  }

  private static BatchMethod method(String name, String... flags) {
    return ChannelBenchmark.methodOf(SelectBenchmark.class, name, flags);
  }

  /** How many clauses a select has. */
  @State(Scope.Benchmark)
  public static class Clauses {
    /** 1, 2 or 4. */
    @Param("1")
    public int clauses;
  }

  /** With fibers and channels of Weft. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void selectOfWeft(ChannelBenchmark.OfWeft of, Clauses clauses)
      throws InterruptedException {
    List<Channel<Integer>> channels =
        IntStream.range(0, clauses.clauses).mapToObj(_ -> Channel.<Integer>rendezvous()).toList();
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (Channel<Integer> channel : channels) {
      fibers.add(of.scheduler.go(() -> ChannelBenchmark.send(channel, VALUES / clauses.clauses)));
    }
    fibers.add(of.scheduler.go(() -> select(channels)));
    ChannelBenchmark.join(fibers);
  }

  private static void select(List<Channel<Integer>> from) throws InterruptedException {
    Channel<Integer> one = from.getFirst();
    if (from.size() == 1) {
      for (int i = 0; i < VALUES; i++) {
        Select.of(one.onReceive(value -> value));
      }
      return;
    }
    Channel<Integer> two = from.get(1);
    if (from.size() == 2) {
      for (int i = 0; i < VALUES; i++) {
        Select.of(one.onReceive(value -> value), two.onReceive(value -> value));
      }
      return;
    }
    Channel<Integer> three = from.get(2);
    Channel<Integer> four = from.get(3);
    for (int i = 0; i < VALUES; i++) {
      Select.of(
          one.onReceive(value -> value),
          two.onReceive(value -> value),
          three.onReceive(value -> value),
          four.onReceive(value -> value));
    }
  }

  /** With virtual threads and channels of jox. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void selectOfJox(Clauses clauses) throws InterruptedException {
    List<com.softwaremill.jox.Channel<Integer>> channels =
        IntStream.range(0, clauses.clauses)
            .mapToObj(_ -> com.softwaremill.jox.Channel.<Integer>newRendezvousChannel())
            .toList();
    List<Thread> threads = new ArrayList<>();
    for (com.softwaremill.jox.Channel<Integer> channel : channels) {
      threads.add(
          ChannelBenchmark.start(() -> ChannelBenchmark.send(channel, VALUES / clauses.clauses)));
    }
    threads.add(ChannelBenchmark.start(() -> selectOfJox(channels)));
    ChannelBenchmark.joinThreads(threads);
  }

  private static void selectOfJox(List<com.softwaremill.jox.Channel<Integer>> from)
      throws InterruptedException {
    com.softwaremill.jox.Channel<Integer> one = from.getFirst();
    if (from.size() == 1) {
      for (int i = 0; i < VALUES; i++) {
        com.softwaremill.jox.Select.select(one.receiveClause());
      }
      return;
    }
    com.softwaremill.jox.Channel<Integer> two = from.get(1);
    if (from.size() == 2) {
      for (int i = 0; i < VALUES; i++) {
        com.softwaremill.jox.Select.select(one.receiveClause(), two.receiveClause());
      }
      return;
    }
    com.softwaremill.jox.Channel<Integer> three = from.get(2);
    com.softwaremill.jox.Channel<Integer> four = from.get(3);
    for (int i = 0; i < VALUES; i++) {
      com.softwaremill.jox.Select.select(
          one.receiveClause(), two.receiveClause(), three.receiveClause(), four.receiveClause());
    }
  }

  /** With coroutines and channels of Kotlin. */
  @Benchmark
  @OperationsPerInvocation(VALUES)
  public void selectOfKotlin(Clauses clauses) {
    KotlinChannels.select(clauses.clauses, VALUES);
  }
}
