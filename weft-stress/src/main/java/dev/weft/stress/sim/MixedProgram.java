package dev.weft.stress.sim;

import dev.weft.channel.Channel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads, monitors, queues, pools and random numbers of the JDK: what chance has a hand in. */
final class MixedProgram {
  private MixedProgram() {}

  /** A class that is initialized by the first run in which it is used, whichever that is. */
  private static final class Library {
    private static final Random RANDOM = new Random();

    static void touch() {
      Objects.requireNonNull(RANDOM);
    }
  }

  @SuppressWarnings("WaitNotInLoop") // any return of the wait is as good
  static void run() throws Exception {
    Object monitor = new Object();
    int[] shared = new int[1];
    LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
    Channel<Integer> channel = Channel.buffered(1);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int number = i;
      Runnable body =
          () -> {
            try {
              Thread.sleep(ThreadLocalRandom.current().nextInt(3));
              synchronized (monitor) {
                shared[0] = shared[0] * 31 + number;
                monitor.notifyAll();
              }
              queue.put(new Random().nextInt(100));
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
    long seen = 0;
    for (int i = 0; i < 3; i++) {
      seen = seen * 31 + channel.receive() + queue.poll(1, TimeUnit.SECONDS);
    }
    try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
      seen += pool.submit(() -> shared[0]).get();
    }
    seen += CompletableFuture.supplyAsync(UUID::randomUUID).get().hashCode();
    seen += Map.of("k", 1, "l", 2, "m", 3).toString().hashCode();
    List<Integer> numbers = new ArrayList<>(List.of(1, 2, 3, 4, 5));
    Collections.shuffle(numbers);
    seen = seen * 31 + numbers.hashCode();
    seen = seen * 31 + comparisonsOfASkipList();
    seen += Runtime.getRuntime().availableProcessors();
    if (Math.floorMod(seen, 3) == 0) { // so not in the first run of all
      Library.touch();
    }
    seen += new Random().nextInt(100);
    Thread.sleep(Math.floorMod(seen, 1_000L)); // the digest of a run has its times: and so all this
  }

  /** The heights of a skip list are random, and by them the number of comparisons. */
  private static int comparisonsOfASkipList() {
    AtomicInteger comparisons = new AtomicInteger();
    Set<Integer> list =
        new ConcurrentSkipListSet<>(
            (one, other) -> {
              comparisons.getAndIncrement();
              return Integer.compare(one, other);
            });
    for (int i = 0; i < 20; i++) {
      list.add(i * 7 % 20);
    }
    return comparisons.get() + list.size();
  }
}
