package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.internal.Uninterrupted;
import dev.weft.internal.attach.Attach;
import dev.weft.internal.watch.Watchdog;
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
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;
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
  void aStuckWorkerIsNoticedAlsoDuringASlowDeadlockReport() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    Object blocker =
        new Object() {
          @Override
          public String toString() {
            asked.countDown();
            Uninterrupted.await(release::await);
            return "a blocker that is slow to say what it is";
          }
        };
    try (LogCapture log = new LogCapture();
        Scheduler dead = start(1, Policy.fifo())) {
      Fiber<Void> waiting = dead.go(() -> LockSupport.park(blocker));
      asked.await(); // after a second in which all fibers of the process have waited
      try (Scheduler scheduler = start(2, Policy.fifo())) {
        hog(scheduler, 0);
        eventually("the hog is reported", () -> !log.entries("hog").isEmpty());
        over.set(true);
      } finally {
        release.countDown();
        LockSupport.unpark(waiting.thread());
      }
    }
  }

  /** Two fibers each own what the other one waits for; one of the locks is slow to describe. */
  @Test
  void aStuckWorkerIsNoticedAlsoDuringASlowReportOfACycle() throws Exception {
    SlowLock slow = new SlowLock();
    OwnedLock fast = new OwnedLock();
    CountDownLatch both = new CountDownLatch(2);
    try (LogCapture log = new LogCapture();
        Scheduler dead = start(1, Policy.fifo());
        Scheduler scheduler = start(2, Policy.fifo())) {
      Fiber<Void> ann = dead.go(() -> fast.ownAndWaitFor(slow, both));
      Fiber<Void> bob = dead.go(() -> slow.ownAndWaitFor(fast, both));
      slow.asked.await();
      try {
        hog(scheduler, 0);
        eventually("the hog is reported", () -> !log.entries("hog").isEmpty());
        over.set(true);
      } finally {
        slow.release.countDown();
        ann.cancel();
        bob.cancel();
      }
    }
  }

  @Test
  @Feature("S25")
  void aToStringThatBlocksHidesNoOtherCircle() throws Exception {
    SlowLock slow = new SlowLock();
    OwnedLock fast = new OwnedLock();
    OwnedLock first = new OwnedLock();
    OwnedLock second = new OwnedLock();
    CountDownLatch both = new CountDownLatch(2);
    CountDownLatch others = new CountDownLatch(2);
    List<Fiber<Void>> fibers = new ArrayList<>();
    try (LogCapture log = new LogCapture();
        Scheduler scheduler = start(2, Policy.fifo())) {
      fibers.add(scheduler.go(() -> fast.ownAndWaitFor(slow, both)));
      fibers.add(scheduler.go(() -> slow.ownAndWaitFor(fast, both)));
      slow.asked.await();
      try {
        fibers.add(
            scheduler.go(FiberOptions.named("cleo"), () -> first.ownAndWaitFor(second, others)));
        fibers.add(
            scheduler.go(FiberOptions.named("dan"), () -> second.ownAndWaitFor(first, others)));
        eventually(
            "the second circle is reported",
            () -> !log.entries("wait for each other", "cleo", "dan").isEmpty());
      } finally {
        slow.release.countDown();
        fibers.forEach(Fiber::cancel);
      }
    }
  }

  private static class OwnedLock extends AbstractOwnableSynchronizer {
    private static final long serialVersionUID = 1;

    void ownAndWaitFor(OwnedLock other, CountDownLatch both) throws InterruptedException {
      setExclusiveOwnerThread(Thread.currentThread());
      both.countDown();
      both.await();
      while (!Thread.interrupted()) {
        LockSupport.park(other);
      }
    }

    @Override
    public String toString() {
      return "an owned lock";
    }
  }

  /** A lock whose description waits for its release. */
  private static final class SlowLock extends OwnedLock {
    private static final long serialVersionUID = 1;

    final transient CountDownLatch asked = new CountDownLatch(1);
    final transient CountDownLatch release = new CountDownLatch(1);

    @Override
    public String toString() {
      asked.countDown();
      Uninterrupted.await(release::await);
      return super.toString();
    }
  }

  @Test
  void aStuckWorkerIsNoticedAlsoWhileTheLogBlocks() throws Exception {
    CountDownLatch logs = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    Handler blocking =
        new StreamHandler() {
          @Override
          public void publish(LogRecord message) {
            logs.countDown();
            Uninterrupted.await(release::await);
          }
        };
    Logger logger = Logger.getLogger("dev.weft");
    try (LogCapture log = new LogCapture();
        Scheduler first = start(1, Policy.fifo());
        Scheduler second = start(2, Policy.fifo())) {
      logger.addHandler(blocking);
      hog(first, 0);
      logs.await();
      try {
        Fiber<Void> hog = hog(second, 0);
        eventually("the dump names it", () -> namesHeldThread(second, hog));
        assertThat(log.entries(hog.toString())).as("its report waits for the log").isEmpty();
      } finally {
        release.countDown();
        logger.removeHandler(blocking);
      }
      eventually("the second hog is logged", () -> log.entries("hog", "thread 0").size() == 2);
      over.set(true);
    }
  }

  private static boolean namesHeldThread(Scheduler scheduler, Fiber<?> fiber) {
    return scheduler.groupedDump().text().contains("held thread: " + fiber);
  }

  /** As when no thread can be started that would serve another process. */
  @Test
  void aStuckWorkerIsNoticedAlsoIfALookFails() throws Exception {
    CountDownLatch failed = new CountDownLatch(2);
    Watchdog.atEachLook(
        () -> {
          failed.countDown();
          throw new OutOfMemoryError("unable to create native thread (made up)");
        });
    try (LogCapture log = new LogCapture();
        Scheduler scheduler = start(2, Policy.fifo())) {
      failed.await();
      hog(scheduler, 0);
      eventually("the hog is reported", () -> !log.entries("hog").isEmpty());
      assertThat(log.entries("the watchdog failed")).as("once, not at each look").hasSize(1);
      over.set(true);
    } finally {
      Watchdog.atEachLook(Attach::look);
    }
  }

  /** Is out of memory for a while; then a fiber holds its thread. */
  static final class NoMemory {
    private static final long SPELL_NANOS = 2_000_000_000; // tens of looks of the watchdog
    static volatile Object hoard = "";

    public static void main(String[] args) throws Exception {
      try (Scheduler scheduler = start(2, Policy.fifo())) {
        scheduler.go(() -> {}).join();
        exhaust();
        CountDownLatch reported = new CountDownLatch(1);
        Logger logger = Logger.getLogger("dev.weft");
        logger.setFilter(
            line -> {
              if (line.getMessage().contains("hog")) {
                reported.countDown();
              }
              return true;
            });
        Fiber<Void> hog =
            scheduler.go(
                FiberOptions.named("hog"),
                () -> {
                  while (reported.getCount() > 0) {
                    Thread.onSpinWait();
                  }
                });
        hog.join();
        System.out.println("reported");
      }
    }

    /** Fills the heap with arrays of smaller and smaller size, and then tries again and again. */
    private static void exhaust() {
      int size = 1 << 30; // fails at once, so that the JVM resolves the handler while it can
      long end = System.nanoTime() + SPELL_NANOS;
      while (System.nanoTime() - end < 0) {
        try {
          hoard = new Object[] {hoard, new byte[size]};
        } catch (OutOfMemoryError e) {
          size /= 2;
        }
      }
      hoard = null;
    }
  }

  @Test
  void aStuckWorkerIsNoticedAfterATimeWithoutMemory() throws Exception {
    ForkedJvm.Result result =
        ForkedJvm.java(
            ForkedJvm.weftArgs(),
            "-Xmx32m",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("java.class.path"),
            NoMemory.class.getName());
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output()).contains("reported");
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
