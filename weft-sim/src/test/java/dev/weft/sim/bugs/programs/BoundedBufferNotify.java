package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * Producers and consumers of a bounded buffer wait for one condition; a consumer that has made room
 * wakes another consumer instead of a producer.
 *
 * <p>After JaConTeBe LOG4J-38137, the classic notify instead of notifyAll.
 */
final class BoundedBufferNotify {
  static final KnownBug BUG =
      KnownBug.of(
          BoundedBufferNotify.class,
          "JaConTeBe LOG4J-38137, the classic notify instead of notifyAll",
          Kind.LOST_WAKE_UP,
          () -> run(new Buffer()),
          () -> run(new FixedBuffer()));

  private BoundedBufferNotify() {}

  private static void run(Buffer buffer) throws Exception {
    Together.run(buffer, Buffer::take, Buffer::take, Buffer::put, Buffer::put);
  }

  private static class Buffer {
    private boolean full;

    synchronized void put() throws InterruptedException {
      while (full) {
        wait();
      }
      full = true;
      wake();
    }

    synchronized void take() throws InterruptedException {
      while (!full) {
        wait();
      }
      full = false;
      wake();
    }

    void wake() {
      notify();
    }
  }

  private static final class FixedBuffer extends Buffer {
    @Override
    void wake() {
      notifyAll();
    }
  }
}
