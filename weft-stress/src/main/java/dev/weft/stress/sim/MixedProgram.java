package dev.weft.stress.sim;

import dev.weft.channel.Channel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Threads, monitors, queues, pools and random numbers of the JDK: what chance has a hand in. */
final class MixedProgram {
  private MixedProgram() {}

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
    Thread.sleep(Math.floorMod(seen, 1_000L)); // the digest of a run has its times: and so all this
  }
}
