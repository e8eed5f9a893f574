package dev.weft.bench.suite;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.BatchMethod;
import dev.weft.bench.run.Carriers;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;

/** A wakes B and waits, B wakes A and waits: one round trip, on one thread and across two. */
public class PingPongBenchmark {
  private static final int TRIPS = 50_000;
  private static final int TRIPS_ACROSS = 10_000;
  private static final FiberOptions FREE = FiberOptions.named("player");

  static Comparison onOneThread() {
    return Go.contestant(
            Comparison.named(
                    "ping-pong",
                    "What it costs two fibers of one thread to wake each other, per round trip.")
                .contestant("Weft", new BatchMethod(PingPongBenchmark.class, "weft"))
                .contestant(
                    "bare virtual threads", new BatchMethod(PingPongBenchmark.class, "bare"))
                .contestant(
                    ChannelBenchmark.BARE,
                    new BatchMethod(PingPongBenchmark.class, "bareContinuations")),
            "ping-pong",
            1)
        .bar(Bar.atMost(Metric.TIME, 1.3, "bare virtual threads"))
        .build();
  }

  static Comparison acrossThreads() {
    return ChannelBenchmark.policies(
            Comparison.named(
                "ping-pong-across",
                "What it costs two fibers to wake each other, given two threads, per round trip."),
            new BatchMethod(PingPongBenchmark.class, "weftFree"),
            new BatchMethod(PingPongBenchmark.class, "weftFifo"))
        .contestant(
            "virtual threads",
            new BatchMethod(PingPongBenchmark.class, "virtualThreads", Carriers.of(2)))
        .contestant("Weft, bound apart", new BatchMethod(PingPongBenchmark.class, "weftBound"))
        .contestant("platform threads", new BatchMethod(PingPongBenchmark.class, "platformThreads"))
        .bar(Bar.atMost(Metric.TIME, 1, "virtual threads"))
        .build();
  }

  /** With fibers of a scheduler that has one thread. */
  @Benchmark
  @OperationsPerInvocation(TRIPS)
  public void weft(Workers.One of) throws InterruptedException {
    playOfWeft(of.scheduler, TRIPS, FREE, FREE);
  }

  /** With virtual threads on a loop without timers, policy or other threads. */
  @Benchmark
  @OperationsPerInvocation(TRIPS)
  public void bare() throws InterruptedException {
    InlineLoop loop = new InlineLoop();
    Players players = Players.start(loop::start, TRIPS);
    loop.run();
    players.join();
  }

  /** With two of the JDK's continuations: two switches a round trip, and nothing else. */
  @Benchmark
  @OperationsPerInvocation(TRIPS)
  public void bareContinuations() {
    ContinuationScope scope = new ContinuationScope("bare");
    int[] moves = {0};
    Continuation ping = player(scope, moves);
    Continuation pong = player(scope, moves);
    for (int i = 0; i < TRIPS; i++) {
      ping.run();
      pong.run();
    }
    if (moves[0] != 2 * TRIPS) {
      throw new IllegalStateException("two players made " + moves[0] + " moves");
    }
  }

  private static Continuation player(ContinuationScope scope, int[] moves) {
    return new Continuation(
        scope,
        () -> {
          while (true) {
            moves[0]++;
            Continuation.yield(scope);
          }
        });
  }

  /** With fibers of a scheduler that has two threads and places them. */
  @Benchmark
  @OperationsPerInvocation(TRIPS_ACROSS)
  public void weftFree(Workers.Two of) throws InterruptedException {
    playOfWeft(of.scheduler, TRIPS_ACROSS, FREE, FREE);
  }

  /** With fibers of a scheduler that has two threads and leaves fibers where they are. */
  @Benchmark
  @OperationsPerInvocation(TRIPS_ACROSS)
  public void weftFifo(Workers.TwoFifo of) throws InterruptedException {
    playOfWeft(of.scheduler, TRIPS_ACROSS, FREE, FREE);
  }

  /** With fibers that are bound to two threads: always across. */
  @Benchmark
  @OperationsPerInvocation(TRIPS_ACROSS)
  public void weftBound(Workers.Two of) throws InterruptedException {
    playOfWeft(of.scheduler, TRIPS_ACROSS, FREE.onThread(0), FREE.onThread(1));
  }

  /** With virtual threads, which the JDK places on its two threads. */
  @Benchmark
  @OperationsPerInvocation(TRIPS_ACROSS)
  public void virtualThreads() throws InterruptedException {
    Players.start(Thread::startVirtualThread, TRIPS_ACROSS).join();
  }

  /** With platform threads: always across. */
  @Benchmark
  @OperationsPerInvocation(TRIPS_ACROSS)
  public void platformThreads() throws InterruptedException {
    Players.start(Thread.ofPlatform()::start, TRIPS_ACROSS).join();
  }

  private static void playOfWeft(
      Scheduler scheduler, int trips, FiberOptions ping, FiberOptions pong)
      throws InterruptedException {
    Fiber<?>[] players = new Fiber<?>[2];
    players[0] = scheduler.go(ping, () -> playOfWeft(scheduler, trips, players, 1));
    players[1] = scheduler.go(pong, () -> playOfWeft(scheduler, trips, players, 0));
    scheduler.schedule(players[0]);
    players[0].join();
    players[1].join();
  }

  private static void playOfWeft(Scheduler scheduler, int trips, Fiber<?>[] players, int other) {
    for (int i = 0; i < trips; i++) {
      Fiber.suspend();
      scheduler.schedule(players[other]);
    }
  }

  /** Two threads of the JDK. */
  private static final class Players {
    private final Thread[] threads = new Thread[2];

    // the player to move: park may return without an unpark (spurious wake-up), and does
    private volatile int turn = -1;

    /** Starts both and lets the first one begin. */
    static Players start(Function<Runnable, Thread> starter, int trips) {
      Players players = new Players();
      players.threads[0] = starter.apply(() -> players.play(trips, 0, 1));
      players.threads[1] = starter.apply(() -> players.play(trips, 1, 0));
      players.giveTurnTo(0);
      return players;
    }

    private void play(int trips, int me, int other) {
      for (int i = 0; i < trips; i++) {
        while (turn != me) {
          LockSupport.park();
        }
        giveTurnTo(other);
      }
    }

    private void giveTurnTo(int player) {
      turn = player;
      LockSupport.unpark(threads[player]);
    }

    void join() throws InterruptedException {
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }
}
