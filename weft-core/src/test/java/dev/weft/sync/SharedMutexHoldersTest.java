package dev.weft.sync;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.testkit.Feature;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** A read lock is released by the fiber or thread that holds it, and by no other. */
@Feature({"Y2", "Y6"})
@SuppressWarnings("LockNotBeforeTry") // the test checks single steps
class SharedMutexHoldersTest {
  private final SharedMutex shared = new SharedMutex();
  private final Lock read = shared.readLock();
  private final Lock write = shared.writeLock();

  private void assertUnlockIsRefused() {
    assertThatExceptionOfType(IllegalMonitorStateException.class)
        .isThrownBy(read::unlock)
        .withMessageMatching(
            "cannot unlock the read lock of shared mutex [0-9a-f]+( \\(.+\\))?: the caller, .+,"
                + " does not hold it");
  }

  @Test
  void aReaderCannotBeUnlockedByAnother() throws Exception {
    try (Crew crew = new Crew()) {
      read.lock();
      Crew.Member writer = crew.start(write::lockInterruptibly).waits();
      for (int i = 0; i < 3; i++) { // fibers and a plain thread
        crew.start(this::assertUnlockIsRefused).join();
      }
      assertThat(writer.end().isDone()).as("the reader is still in").isFalse();
      read.unlock();
      writer.join();
    }
  }

  @Test
  void theMessageNamesTheCaller() throws Exception {
    read.lock();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      scheduler
          .go(
              FiberOptions.named("stranger"),
              () ->
                  assertThatExceptionOfType(IllegalMonitorStateException.class)
                      .isThrownBy(read::unlock)
                      .withMessageContaining("(stranger)"))
          .join();
    }
    read.unlock();
  }

  @Test
  void eachHoldIsReleasedOnce() {
    read.lock();
    assertThat(read.tryLock()).isTrue();
    read.unlock();
    assertThat(write.tryLock()).as("one hold is left").isFalse();
    read.unlock();
    assertUnlockIsRefused();
    assertThat(write.tryLock()).isTrue();
    write.unlock();
  }

  @Test
  void aReaderThatWaitedHoldsTheLock() throws Exception {
    try (Crew crew = new Crew()) {
      write.lock();
      CountDownLatch release = new CountDownLatch(1);
      Body readsAndReleases =
          () -> {
            read.lock();
            release.await();
            read.unlock();
            assertUnlockIsRefused();
          };
      Crew.Member[] readers = new Crew.Member[3];
      for (int i = 0; i < 3; i++) {
        readers[i] = crew.start(readsAndReleases).waits();
      }
      write.unlock();
      assertUnlockIsRefused();
      release.countDown();
      for (Crew.Member reader : readers) {
        reader.join();
      }
    }
    assertThat(write.tryLock()).isTrue();
  }

  @Test
  @Feature("Y7")
  void aReaderThatGaveUpHoldsNothing() throws Exception {
    try (Crew crew = new Crew()) {
      write.lock();
      for (int i = 0; i < 3; i++) {
        crew.start(
                () -> {
                  assertThat(read.tryLock()).isFalse();
                  assertThat(read.tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
                  assertUnlockIsRefused();
                })
            .join();
        Crew.Member interrupted =
            crew.start(
                    () -> {
                      assertThatExceptionOfType(InterruptedException.class)
                          .isThrownBy(read::lockInterruptibly);
                      assertUnlockIsRefused();
                    })
                .waits();
        interrupted.giveUp();
        interrupted.join();
      }
      write.unlock();
    }
  }

  @Test
  void aFiberHoldsTheLockOnWhicheverThread() throws Exception {
    try (Scheduler one = Scheduler.builder().threads(2).build().start();
        Scheduler other = Scheduler.builder().threads(1).build().start()) {
      one.go(
              () -> {
                read.lock();
                Fiber.switchTo(0);
                Fiber.switchTo(1);
                read.unlock();
                read.lock();
                Fiber.switchTo(other);
                read.unlock();
                read.lock();
                Weft.blocking(
                    () -> {
                      read.unlock();
                      return 0;
                    });
                assertUnlockIsRefused();
              })
          .join();
    }
  }

  @Test
  void aVirtualThreadInsideAFiberIsAnotherCaller() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      scheduler
          .go(
              () -> {
                read.lock();
                CountDownLatch refused = new CountDownLatch(1);
                Thread.ofVirtual()
                    .start(
                        () -> {
                          assertUnlockIsRefused();
                          refused.countDown();
                        });
                assertThat(refused.await(15, TimeUnit.SECONDS)).isTrue();
                read.unlock();
              })
          .join();
    }
  }

  @Test
  void aConditionVariableCannotReleaseALockThatTheCallerDoesNotHold() throws Exception {
    read.lock();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      scheduler
          .go(
              () ->
                  assertThatExceptionOfType(IllegalMonitorStateException.class)
                      .isThrownBy(() -> new ConditionVariable().await(read, Duration.ofMillis(1))))
          .join();
    }
    assertThat(write.tryLock()).isFalse();
    read.unlock();
  }

  @Test
  void aFiberThatEndedIsNotKept() throws Exception {
    WeakReference<Thread> ended = threadOfAFiberThatNeverUnlocks();
    eventually(
        "the thread of the fiber is garbage",
        () -> {
          System.gc();
          return ended.get() == null;
        });
    assertThat(write.tryLock()).as("the fiber's holds stay").isFalse();
  }

  private WeakReference<Thread> threadOfAFiberThatNeverUnlocks() throws InterruptedException {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> fiber = scheduler.go(() -> read.lock());
      fiber.join();
      return new WeakReference<>(fiber.thread());
    }
  }
}
