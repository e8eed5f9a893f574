package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import dev.weft.testkit.Feature;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One thread, and fibers that are always ready: other fibers, timers and I/O still get their
 * slices.
 */
@Feature("S8")
@Timeout(60)
class FairnessTest {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final AtomicBoolean enough = new AtomicBoolean();

  @BeforeEach
  void occupy() throws Exception {
    CountDownLatch begun = new CountDownLatch(3);
    for (int i = 0; i < 3; i++) {
      scheduler.go(
          () -> {
            begun.countDown();
            while (!enough.get()) {
              Fiber.yield();
            }
          });
    }
    begun.await();
  }

  @AfterEach
  void stop() {
    enough.set(true);
    scheduler.stop(Duration.ofSeconds(10));
  }

  @Test
  void fibersSubmittedByOtherThreadsRun() throws Exception {
    assertThat(scheduler.go(() -> "had its turn").join()).isEqualTo("had its turn");
  }

  @Test
  void timersAndSleepers() throws Exception {
    CountDownLatch fired = new CountDownLatch(1);
    scheduler.timers().after(Duration.ofMillis(1), fired::countDown);
    scheduler.go(() -> Fiber.sleep(Duration.ofMillis(1))).join();
    fired.await();
  }

  @Test
  void fibersSubmittedByOtherThreadsWaitForOneBatchAtMost() throws Exception {
    AtomicInteger slices = new AtomicInteger();
    CountDownLatch counting = new CountDownLatch(1);
    scheduler.go(
        () -> {
          while (!enough.get()) {
            slices.incrementAndGet();
            counting.countDown();
            Fiber.yield();
          }
        });
    counting.await();
    // four fibers alternate; a batch is 64 slices, and the new fiber goes behind all four
    for (int round = 0; round < 100; round++) {
      Fiber<Integer> newcomer = scheduler.go(slices::get);
      int submitted = slices.get(); // the new fiber may have run by now
      assertThat(newcomer.join() - submitted).isLessThanOrEqualTo(64 / 4 + 1);
    }
  }

  @Test
  @Feature("T2")
  void aSleeperDoesNotWaitForABatchOfLongSlices() throws Exception {
    try (LongSlices busy = new LongSlices()) {
      Fiber<Integer> sleeper =
          busy.scheduler.go(
              () -> {
                int before = busy.slices.get();
                Fiber.sleep(Duration.ofMillis(1));
                return busy.slices.get() - before;
              });
      // the rest of a short batch, and the fibers that were ready before; not 64
      assertThat(sleeper.join()).isLessThanOrEqualTo(8 + 4);
    }
  }

  @Test
  @Feature("I1")
  void norDoesAFiberThatReads() throws Exception {
    AtomicInteger sentAt = new AtomicInteger();
    try (LongSlices busy = new LongSlices();
        TcpListener listener =
            TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      Fiber<Integer> reader =
          busy.scheduler.go(
              () -> {
                try (TcpStream stream = listener.accept()) {
                  stream.read(new byte[1]);
                  stream.read(new byte[1]);
                  return busy.slices.get() - sentAt.get();
                }
              });
      InetSocketAddress address = (InetSocketAddress) listener.localAddress();
      try (Socket peer = new Socket(address.getAddress(), address.getPort())) {
        peer.getOutputStream().write(1);
        busy.awaitMore(20); // by then the reader waits for the second byte
        sentAt.set(busy.slices.get());
        peer.getOutputStream().write(2);
        // some slices until the worker polls, and the fibers that were ready before; not 64
        assertThat(reader.join()).isLessThanOrEqualTo(8 + 4);
      }
    }
  }

  /** The handlers of a server that compute for 0.1 ms each: 64 slices would be 6 ms. */
  @Test
  @Feature("I1")
  void aFiberThatReadsDoesNotWaitFor64SlicesOfATenthOfAMillisecond() throws Exception {
    int rounds = 31;
    int[] waited = new int[rounds];
    AtomicInteger sentAt = new AtomicInteger();
    try (LongSlices busy = new LongSlices(Duration.ofNanos(100_000));
        TcpListener listener =
            TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      Fiber<Void> reader =
          busy.scheduler.go(
              () -> {
                try (TcpStream stream = listener.accept()) {
                  for (int i = 0; i < rounds; i++) {
                    stream.read(new byte[1]);
                    waited[i] = busy.slices.get() - sentAt.get();
                    stream.write(new byte[1]);
                  }
                }
              });
      InetSocketAddress address = (InetSocketAddress) listener.localAddress();
      try (Socket peer = new Socket(address.getAddress(), address.getPort())) {
        for (int i = 0; i < rounds; i++) {
          busy.awaitMore(20 + 7 * i % 64); // by then the reader waits, at any place in a batch
          peer.getOutputStream().write(1);
          sentAt.set(busy.slices.get()); // after the write, which may take long on a busy machine
          peer.getInputStream().read();
        }
        reader.join();
      }
    }
    Arrays.sort(waited);
    // 10 slices to the poll, up to 10 in the batch under way, and the fibers that were ready before
    assertThat(waited[rounds / 2])
        .as("slices, the median of %s", Arrays.toString(waited))
        .isLessThan(20);
  }

  /** Four fibers on one thread that compute between yields, for 5 ms if no other time is given. */
  private static final class LongSlices implements AutoCloseable {
    final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
    final AtomicInteger slices = new AtomicInteger();
    private final AtomicBoolean end = new AtomicBoolean();

    LongSlices() {
      this(Duration.ofMillis(5));
    }

    LongSlices(Duration length) {
      for (int i = 0; i < 4; i++) {
        scheduler.go(
            () -> {
              while (!end.get()) {
                Busy.compute(length);
                slices.incrementAndGet();
                Fiber.yield();
              }
            });
      }
    }

    void awaitMore(int count) {
      int from = slices.get();
      while (slices.get() - from < count) {
        Thread.onSpinWait();
      }
    }

    @Override
    public void close() {
      end.set(true);
      scheduler.stop();
    }
  }
}
