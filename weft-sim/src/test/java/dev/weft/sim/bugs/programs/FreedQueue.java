package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The main thread frees a queue when all blocks are done, while the consumer still looks at the
 * queue to learn that there are no more.
 *
 * <p>After SCTBench conc-bugs/pbzip2-0.9.4.
 */
final class FreedQueue {
  static final KnownBug BUG =
      KnownBug.of(
          FreedQueue.class,
          "SCTBench conc-bugs/pbzip2-0.9.4",
          Kind.ORDER,
          () -> run(new Compressor()),
          () -> run(new FixedCompressor()));

  private FreedQueue() {}

  private static void run(Compressor compressor) throws Exception {
    Together.run(compressor, Compressor::consume, Compressor::free);
  }

  private static class Compressor {
    private final CountDownLatch done = new CountDownLatch(2);
    final CountDownLatch left = new CountDownLatch(1);
    private ReentrantLock mutex = new ReentrantLock();
    private int blocks = 2;

    void consume() {
      while (true) {
        mutex.lock();
        try {
          if (blocks == 0) {
            break;
          }
          blocks = blocks - 1;
        } finally {
          mutex.unlock();
        }
        done.countDown();
      }
      left.countDown();
    }

    void awaitConsumer() throws InterruptedException {
      done.await();
    }

    void free() throws InterruptedException {
      awaitConsumer();
      mutex = null;
    }
  }

  private static final class FixedCompressor extends Compressor {
    @Override
    void awaitConsumer() throws InterruptedException {
      left.await();
    }
  }
}
