package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.internal.Uninterrupted;
import dev.weft.testkit.Feature;
import java.io.FileInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stuck workers: a fiber that holds its thread too long. */
@Feature({"S17", "H7"})
class BlockedWorkerTest {
  private final AtomicBoolean over = new AtomicBoolean();

  @AfterEach
  void release() {
    over.set(true);
  }

  private static Scheduler start(int threads, Policy policy) {
    return Scheduler.builder()
        .threads(threads)
        .policy(policy)
        .blockedAfter(Duration.ofMillis(30))
        .build()
        .start();
  }

  private void holdTheThread() {
    while (!over.get()) {
      Thread.onSpinWait();
    }
  }

  private Fiber<Void> hog(Scheduler scheduler, int thread) {
    Fiber<Void> hog = scheduler.go(FiberOptions.named("hog").onThread(thread), this::holdTheThread);
    eventually("the hog holds its thread", () -> hog.status() == Fiber.Status.RUNNING);
    return hog;
  }

  /** Makes a fiber with thread 0 as its home, but not bound to it. */
  private static Fiber<Integer> atZero(Scheduler scheduler, CountDownLatch there, Body body) {
    return scheduler.go(
        () -> {
          Fiber.switchTo(0);
          Fiber.switchTo(scheduler);
          there.countDown();
          body.run();
          return Fiber.threadIndex();
        });
  }

  @Test
  void aStuckWorkerIsReportedOnceWithItsStack() throws Exception {
    try (LogCapture log = new LogCapture();
        Scheduler scheduler = start(2, Policy.fifo())) {
      Fiber<Void> hog = hog(scheduler, 0);
      eventually("the hog is reported", () -> !log.entries("hog").isEmpty());
      // no second report while another stuck worker is found and reported
      Fiber<Void> second =
          scheduler.go(FiberOptions.named("second").onThread(1), this::holdTheThread);
      eventually("the second fiber is reported", () -> !log.entries("second").isEmpty());
      assertThat(log.entries("fiber " + hog.id() + " (hog)"))
          .singleElement()
          .satisfies(
              entry -> {
                assertThat(entry.level()).isEqualTo("WARNING");
                assertThat(entry.text())
                    .contains("has held thread 0 of " + scheduler)
                    .contains("its other fibers move to other threads")
                    .contains("at dev.weft.BlockedWorkerTest.holdTheThread(");
              });
      over.set(true);
      hog.join();
      second.join();
    }
  }

  @Test
  void withOneThreadAStuckWorkerIsReportedAndTheOtherFibersWait() throws Exception {
    try (LogCapture log = new LogCapture();
        Scheduler scheduler = start(1, Policy.fifo())) {
      Fiber<Void> hog = hog(scheduler, 0);
      Fiber<Void> other = scheduler.go(() -> {});
      eventually("the hog is reported", () -> !log.entries("hog", "nothing else runs").isEmpty());
      assertThat(other.status()).isEqualTo(Fiber.Status.READY);
      over.set(true);
      hog.join();
      other.join();
    }
  }

  @Test
  void theOtherFibersOfItsThreadMoveOnAndBoundFibersStay() throws Exception {
    for (Policy policy : List.of(Policy.fifo(), Policy.priority(), Policy.workStealing())) {
      over.set(false);
      try (LogCapture _ = new LogCapture();
          Scheduler scheduler = start(2, policy)) {
        List<Fiber<Integer>> ready = new ArrayList<>();
        List<Fiber<Integer>> sleeping = new ArrayList<>();
        List<Fiber<Integer>> limited = new ArrayList<>();
        CountDownLatch there = new CountDownLatch(15);
        for (int i = 0; i < 5; i++) {
          ready.add(atZero(scheduler, there, () -> Fiber.suspend()));
          sleeping.add(atZero(scheduler, there, () -> Fiber.sleep(Duration.ofMillis(40))));
          limited.add(
              atZero(
                  scheduler,
                  there,
                  () -> {
                    try {
                      Weft.withTimeout(
                          Duration.ofMillis(40),
                          () -> {
                            Fiber.suspend();
                            return null;
                          });
                    } catch (TimeoutException e) {
                      // the expected exception
                    }
                  }));
        }
        there.await();
        ready.forEach(Eventually::waits);
        Fiber<Void> hog = hog(scheduler, 0);
        Fiber<Integer> bound =
            scheduler.go(FiberOptions.named("bound").onThread(0), () -> Fiber.threadIndex());
        ready.forEach(scheduler::schedule); // into the inbox of the stuck worker
        List<Fiber<Integer>> fresh = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
          fresh.add(scheduler.go(() -> Fiber.threadIndex()));
        }
        for (List<Fiber<Integer>> fibers : List.of(ready, sleeping, limited, fresh)) {
          for (Fiber<Integer> fiber : fibers) {
            int endedOn = fiber.join(Duration.ofSeconds(15));
            if (fibers == ready) {
              assertThat(endedOn).isEqualTo(1);
            }
          }
        }
        assertThat(hog.status()).isEqualTo(Fiber.Status.RUNNING);
        assertThat(bound.status()).isEqualTo(Fiber.Status.READY);
        over.set(true);
        assertThat(bound.join()).isZero();
        hog.join();
      }
    }
  }

  /** Reads an empty pipe: neither Weft nor the JDK can foresee that this blocks. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aStuckNativeCallIsNoticedAndOtherWorkersTakeOver(int threads, @TempDir Path dir)
      throws Exception {
    Path fifo = dir.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    try (LogCapture log = new LogCapture();
        Scheduler scheduler = start(threads, Policy.fifo())) {
      CountDownLatch there = new CountDownLatch(1);
      Fiber<Integer> behind = atZero(scheduler, there, () -> Fiber.suspend());
      there.await();
      waits(behind);
      Fiber<Integer> stuck =
          scheduler.go(
              FiberOptions.named("stuck").onThread(0),
              () -> {
                try (InputStream in = new FileInputStream(fifo.toFile())) {
                  return in.read();
                }
              });
      eventually(
          "the stuck fiber is reported",
          () -> !log.entries("stuck", "has held thread 0").isEmpty());
      assertThat(log.entries("stuck").getFirst().text()).contains("FileInputStream.open");
      scheduler.schedule(behind);
      if (threads > 1) {
        assertThat(behind.join(Duration.ofSeconds(30))).isEqualTo(1);
      } else {
        assertThat(log.entries("stuck").getFirst().text()).contains("nothing else runs");
        assertThat(behind.isDone()).isFalse();
      }
      assertThat(stuck.isDone()).isFalse();
      Files.write(fifo, new byte[] {7});
      assertThat(stuck.join()).isEqualTo(7);
      assertThat(behind.join()).isEqualTo(threads - 1);
    }
  }

  @Test
  void aStuckWorkerIsNoticedAlsoDuringASlowFailureHandler() throws Exception {
    CountDownLatch handles = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    try (LogCapture log = new LogCapture();
        Scheduler failing =
            Scheduler.builder()
                .threads(1)
                .onUncaught(
                    (_, _) -> {
                      handles.countDown();
                      Uninterrupted.await(release::await);
                    })
                .build()
                .start();
        Scheduler scheduler = start(2, Policy.fifo())) {
      failing.go(
          (Body)
              () -> {
                throw new IllegalStateException("nobody joins");
              });
      handles.await();
      try {
        hog(scheduler, 0);
        eventually("the hog is reported", () -> !log.entries("hog").isEmpty());
      } finally {
        release.countDown();
        over.set(true);
      }
    }
  }

  @Test
  void timersOfAStuckWorkerFire() throws Exception {
    try (LogCapture _ = new LogCapture();
        Scheduler scheduler = start(2, Policy.fifo())) {
      AtomicBoolean fired = new AtomicBoolean();
      Fiber<Void> hog =
          scheduler.go(
              () -> {
                scheduler.timers().after(Duration.ofMillis(1), () -> fired.set(true));
                holdTheThread();
              });
      eventually("its timer fires on the other thread", fired::get);
      assertThat(hog.status()).isEqualTo(Fiber.Status.RUNNING);
      over.set(true);
      hog.join();
    }
  }

  @Test
  void aFiberThatWaitsOrYieldsIsNotReported() throws Exception {
    try (LogCapture log = new LogCapture();
        Scheduler scheduler = start(1, Policy.fifo())) {
      Fiber<Void> polite =
          scheduler.go(
              FiberOptions.named("polite"),
              () -> {
                long start = System.nanoTime();
                while (System.nanoTime() - start < 150_000_000) {
                  Fiber.yield();
                }
              });
      Fiber<Void> waiting = scheduler.go(FiberOptions.named("waiting"), () -> Fiber.suspend());
      waits(waiting);
      polite.join();
      scheduler.schedule(waiting);
      waiting.join();
      assertThat(log.entries("waiting")).isEmpty();
    }
  }
}
