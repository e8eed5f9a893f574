package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.channel.Channel;
import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.Timer;
import java.util.TimerTask;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The same seed gives the same run: in one JVM, in several, and while other threads compute. */
@Feature("V2")
class DeterminismTest {
  private static final String POINTS = "dev.weft.sim.DeterminismTest";
  private static final int SEEDS = 60;

  /** A program that uses every source of chance: what it saw is its result. */
  @SuppressWarnings("WaitNotInLoop") // any return of the wait is as good
  private static void mixed(Simulation sim, StringBuilder seen) throws Exception {
    Object monitor = new Object();
    int[] shared = new int[1];
    List<Thread> threads = new ArrayList<>();
    LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
    Channel<Integer> channel = Channel.buffered(1);
    for (int i = 0; i < 3; i++) {
      int number = i;
      Runnable body =
          () -> {
            try {
              Thread.sleep(ThreadLocalRandom.current().nextInt(3));
              for (int k = 0; k < 3; k++) {
                synchronized (monitor) {
                  shared[0] = shared[0] * 31 + number;
                  if (k == 1) {
                    monitor.notifyAll();
                  }
                }
              }
              queue.put(number + " " + new Random().nextInt(100));
              channel.send(number);
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          };
      threads.add(i == 0 ? Thread.ofVirtual().unstarted(body) : new Thread(body));
    }
    threads.forEach(Thread::start);
    synchronized (monitor) {
      monitor.wait(1);
    }
    for (int i = 0; i < 3; i++) {
      seen.append(channel.receive()).append(' ');
      seen.append(queue.poll(1, TimeUnit.SECONDS)).append(' ');
    }
    try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
      seen.append(pool.submit(() -> shared[0]).get()).append(' ');
    }
    seen.append(CompletableFuture.supplyAsync(Math::random).get()).append(' ');
    seen.append(UUID.randomUUID()).append(' ').append(new SecureRandom().nextInt()).append(' ');
    seen.append(new SplittableRandom().nextInt()).append(' ');
    for (String generator :
        List.of("L64X128MixRandom", "L128X256MixRandom", "Xoshiro256PlusPlus")) {
      seen.append(RandomGenerator.of(generator).nextInt()).append(' ');
    }
    seen.append(Set.of("a", "b", "c", "d")).append(Map.of("k", 1, "l", 2, "m", 3));
    List<Integer> shuffled = new ArrayList<>(IntStream.range(0, 20).boxed().toList());
    Collections.shuffle(shuffled);
    seen.append(shuffled).append(comparisonsOfASkipList()).append(' ');
    seen.append(Runtime.getRuntime().availableProcessors()).append(' ');
    IntSupplier processors = Runtime.getRuntime()::availableProcessors;
    seen.append(processors.getAsInt()).append(' ');
    try (ExecutorService pool = Executors.newCachedThreadPool()) {
      seen.append(pool.submit(DeterminismTest::nameOfPlainThread).get()).append(' ');
    }
    CompletableFuture<String> timer = new CompletableFuture<>();
    new Timer().schedule(task(() -> timer.complete(nameOfPlainThread())), 1);
    seen.append(timer.get()).append(' ');
    LockSupport.parkNanos(1_000);
    seen.append(System.nanoTime()).append(' ').append(sim.elapsed());
  }

  /** The heights of a skip list are random, and by them the number of comparisons. */
  private static int comparisonsOfASkipList() {
    int[] comparisons = new int[1];
    ConcurrentSkipListSet<Integer> list =
        new ConcurrentSkipListSet<>(
            (one, other) -> {
              comparisons[0]++;
              return Integer.compare(one, other);
            });
    for (int i = 0; i < 100; i++) {
      list.add(i * 37 % 100);
    }
    assertThat(list).hasSize(100);
    return comparisons[0];
  }

  private static String nameOfPlainThread() {
    return Thread.currentThread().getName();
  }

  private static TimerTask task(Runnable body) {
    return new TimerTask() {
      @Override
      public void run() {
        body.run();
      }
    };
  }

  /** Returns what each seed saw. */
  private static List<String> explore() {
    List<String> all = new ArrayList<>();
    Simulation.explore(
            SimulationOptions.seeds(SEEDS).points(POINTS),
            sim -> {
              StringBuilder seen = new StringBuilder().append(sim.seed()).append(": ");
              mixed(sim, seen);
              all.add(seen.toString());
            })
        .check();
    return all.stream().distinct().toList();
  }

  @Test
  void aSeedSeesTheSameInEveryRun() {
    List<String> first = explore();
    assertThat(first).hasSize(SEEDS + 1); // and the plain run; repeats saw the same
    assertThat(explore()).isEqualTo(first);
  }

  @Test
  void seedsDiffer() {
    assertThat(explore().stream().map(seen -> seen.substring(seen.indexOf(':'))).distinct())
        .hasSizeGreaterThan(SEEDS / 2);
  }

  @Test
  void otherThreadsDoNotDisturbARun() throws Exception {
    List<String> quiet = explore();
    List<Thread> busy = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      busy.add(
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    while (!Thread.currentThread().isInterrupted()) {
                      List<Object> garbage = new ArrayList<>();
                      for (int k = 0; k < 1_000; k++) {
                        garbage.add(new byte[100]);
                      }
                      Thread.ofVirtual().start(garbage::clear);
                    }
                  }));
    }
    try {
      assertThat(explore()).isEqualTo(quiet);
    } finally {
      busy.forEach(Thread::interrupt);
    }
  }

  @Test
  void anotherJvmSeesTheSame() throws Exception {
    // without Weft's flags: the agent needs none
    Command.Result other =
        Command.java(
                "--enable-native-access=ALL-UNNAMED",
                "-XX:ActiveProcessorCount=1",
                DeterminismTest.class.getName())
            .run();
    assertThat(other.exitStatus()).as(other.stderr()).isZero();
    String seen = other.stdout();
    assertThat(seen.lines().toList()).isEqualTo(explore());
  }

  public static void main(String[] args) {
    explore().forEach(System.out::println);
  }
}
