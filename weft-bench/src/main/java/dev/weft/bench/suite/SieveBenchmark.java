package dev.weft.bench.suite;

import dev.weft.bench.model.Comparison;
import dev.weft.bench.run.BatchMethod;
import dev.weft.channel.Channel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;

/**
 * The prime sieve of Hoare's CSP, as Go's examples have it: a chain that grows by a filter for each
 * prime, up to 2,000 of them; per number that is handed over. A 0 after the last number ends each
 * filter.
 */
public class SieveBenchmark {
  private static final int PRIMES = 2_000;
  private static final int LAST_PRIME = 17_389;

  /** How often a number is handed over. */
  private static final int TRANSFERS = 2_042_625;

  static Comparison comparison() {
    return Go.withBar(
            ChannelBenchmark.policies(
                    Comparison.named(
                        "sieve", "What it costs to hand a number on in a sieve of 2,000 primes."),
                    method("weft"),
                    method("weft", ChannelBenchmark.FIFO))
                .contestant("virtual threads", method("virtualThreads"))
                .contestant(ChannelBenchmark.BARE, method("bare")),
            "sieve",
            1.5)
        .build();
  }

  private static BatchMethod method(String name, String... flags) {
    return ChannelBenchmark.methodOf(SieveBenchmark.class, name, flags);
  }

  /** With fibers and channels of Weft. */
  @Benchmark
  @OperationsPerInvocation(TRANSFERS)
  public void weft(ChannelBenchmark.OfWeft of) throws InterruptedException {
    check(of.scheduler.go(() -> sieve(of)).join());
  }

  private static int sieve(ChannelBenchmark.OfWeft of) throws InterruptedException {
    Channel<Integer> numbers = Channel.rendezvous();
    of.scheduler.go(
        () -> {
          for (int n = 2; n <= LAST_PRIME; n++) {
            numbers.send(n);
          }
          numbers.send(0);
        });
    int found = 0;
    Channel<Integer> last = numbers;
    for (int prime = last.receive(); prime != 0; prime = last.receive()) {
      found++;
      int divisor = prime;
      Channel<Integer> from = last;
      Channel<Integer> to = Channel.rendezvous();
      of.scheduler.go(
          () -> {
            for (int n = from.receive(); n != 0; n = from.receive()) {
              if (n % divisor != 0) {
                to.send(n);
              }
            }
            to.send(0);
          });
      last = to;
    }
    return found;
  }

  /** With virtual threads and synchronous queues. */
  @Benchmark
  @OperationsPerInvocation(TRANSFERS)
  public void virtualThreads() throws InterruptedException {
    int[] found = {0};
    ChannelBenchmark.start(() -> found[0] = sieveOfQueues()).join();
    check(found[0]);
  }

  private static int sieveOfQueues() throws InterruptedException {
    BlockingQueue<Integer> numbers = new SynchronousQueue<>();
    ChannelBenchmark.start(
        () -> {
          for (int n = 2; n <= LAST_PRIME; n++) {
            numbers.put(n);
          }
          numbers.put(0);
        });
    int found = 0;
    BlockingQueue<Integer> last = numbers;
    for (int prime = last.take(); prime != 0; prime = last.take()) {
      found++;
      int divisor = prime;
      BlockingQueue<Integer> from = last;
      BlockingQueue<Integer> to = new SynchronousQueue<>();
      ChannelBenchmark.start(
          () -> {
            for (int n = from.take(); n != 0; n = from.take()) {
              if (n % divisor != 0) {
                to.put(n);
              }
            }
            to.put(0);
          });
      last = to;
    }
    return found;
  }

  /**
   * With a continuation of the JDK for each filter, without a channel or a scheduler: a switch for
   * each number that is handed over, and nothing else.
   */
  @Benchmark
  @OperationsPerInvocation(TRANSFERS)
  public void bare() {
    ContinuationScope scope = new ContinuationScope("bare");
    int[] number = {0};
    boolean[] passes = {false};
    List<Continuation> filters = new ArrayList<>();
    for (int n = 2; n <= LAST_PRIME; n++) {
      number[0] = n;
      passes[0] = true;
      for (int i = 0; i < filters.size() && passes[0]; i++) {
        filters.get(i).run();
      }
      if (passes[0]) {
        int divisor = n;
        filters.add(
            new Continuation(
                scope,
                () -> {
                  while (true) {
                    passes[0] = number[0] % divisor != 0;
                    Continuation.yield(scope);
                  }
                }));
      }
    }
    check(filters.size());
  }

  private static void check(int found) {
    if (found != PRIMES) {
      throw new IllegalStateException("there are " + PRIMES + " primes, not " + found);
    }
  }
}
