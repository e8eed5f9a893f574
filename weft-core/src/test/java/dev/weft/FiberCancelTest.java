package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.testkit.Feature;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Cancelling fibers in every state. */
@Feature("S15")
@SuppressWarnings("WaitNotInLoop")
class FiberCancelTest {
  private static Scheduler start(int threads) {
    return Scheduler.builder().threads(threads).build().start();
  }

  private static void assertCancelled(Fiber<?> fiber) {
    assertThatExceptionOfType(CancellationException.class)
        .isThrownBy(() -> fiber.join(Duration.ofSeconds(15)))
        .withMessageContaining(fiber + " was cancelled");
    assertThat(fiber.status()).isEqualTo(Fiber.Status.DONE);
    assertThat(fiber.toFuture()).isCancelled();
  }

  @Test
  void cancelledBeforeItsStartAFiberNeverRunsItsBody() throws Exception {
    try (Scheduler scheduler = start(1)) {
      AtomicBoolean ran = new AtomicBoolean();
      CountDownLatch release = new CountDownLatch(1);
      Fiber<Void> blocker =
          scheduler.go(
              () -> {
                while (release.getCount() > 0) {
                  Thread.onSpinWait();
                }
              });
      Fiber<Void> fiber = scheduler.go(() -> ran.set(true));
      Fiber<Void> withThread = scheduler.go(() -> ran.set(true));
      assertThat(withThread.thread()).isNotNull();
      assertThat(fiber.cancel()).isTrue();
      assertThat(withThread.cancel()).isTrue();
      release.countDown();
      blocker.join();
      assertCancelled(fiber);
      assertCancelled(withThread);
      assertThat(ran).isFalse();
    }
  }

  private static final Object NOBODY_NOTIFIES = new Object();

  private static Arguments wait(String name, Body body) {
    return Arguments.of(name, body);
  }

  static Stream<Arguments> blockedCalls() {
    ReentrantLock held = new ReentrantLock();
    Thread holder = Thread.ofPlatform().daemon().start(held::lock);
    eventually("the holder has taken the lock", () -> !holder.isAlive());
    return Stream.of(
        wait("Fiber.sleep", () -> Fiber.sleep(Duration.ofHours(1))),
        wait("Fiber.sleepUntil", () -> Fiber.sleepUntil(Instant.now().plusSeconds(3600))),
        wait("Fiber.suspend", () -> Fiber.suspend()),
        wait(
            "Fiber.join",
            () -> Scheduler.shared().go(() -> Fiber.sleep(Duration.ofSeconds(5))).join()),
        wait(
            "Fiber.join with a limit",
            () ->
                Scheduler.shared()
                    .go(() -> Fiber.sleep(Duration.ofSeconds(5)))
                    .join(Duration.ofHours(1))),
        wait("withTimeout", () -> Weft.withTimeout(Duration.ofHours(1), () -> park(null))),
        wait("LockSupport.park", () -> park(null)),
        wait("LockSupport.parkNanos", () -> park(Duration.ofHours(1))),
        wait("Thread.sleep", () -> Thread.sleep(Duration.ofHours(1))),
        wait("Thread.join", () -> Thread.ofPlatform().daemon().start(LockSupport::park).join()),
        wait("BlockingQueue.take", () -> new LinkedBlockingQueue<Integer>().take()),
        wait("ReentrantLock.lockInterruptibly", held::lockInterruptibly),
        wait("Condition.await", FiberCancelTest::awaitCondition),
        wait("Semaphore.acquire", () -> new Semaphore(0).acquire()),
        wait("CompletableFuture.get", () -> new CompletableFuture<Void>().get()),
        wait("Object.wait", FiberCancelTest::objectWait),
        wait("blocking read", FiberCancelTest::read));
  }

  private static Object park(Duration limit) throws InterruptedException {
    while (!Thread.currentThread().isInterrupted()) {
      if (limit == null) {
        LockSupport.park();
      } else {
        LockSupport.parkNanos(limit.toNanos());
      }
    }
    throw new InterruptedException();
  }

  private static void awaitCondition() throws InterruptedException {
    ReentrantLock lock = new ReentrantLock();
    lock.lock();
    try {
      lock.newCondition().await();
    } finally {
      lock.unlock();
    }
  }

  private static void objectWait() throws InterruptedException {
    synchronized (NOBODY_NOTIFIES) {
      NOBODY_NOTIFIES.wait();
    }
  }

  private static void read() throws Exception {
    Pipe pipe = Pipe.open();
    try {
      pipe.source().read(ByteBuffer.allocate(1));
    } catch (ClosedByInterruptException e) {
      throw new InterruptedException();
    } finally {
      pipe.sink().close();
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("blockedCalls")
  void aWaitEndsAndFinallyBlocksRun(String name, Body wait) throws Exception {
    try (Scheduler scheduler = start(1)) {
      AtomicInteger cleanUps = new AtomicInteger();
      AtomicReference<Throwable> thrown = new AtomicReference<>();
      Fiber<Void> fiber =
          scheduler.go(
              FiberOptions.named(name),
              () -> {
                try {
                  wait.run();
                } catch (InterruptedException | CancellationException e) {
                  thrown.set(e);
                  throw e;
                } finally {
                  cleanUps.incrementAndGet();
                }
              });
      eventually(
          name + " waits",
          () ->
              fiber.status() == Fiber.Status.WAITING
                  && fiber.thread().getState() != Thread.State.RUNNABLE);
      assertThat(cleanUps).hasValue(0);
      assertThat(fiber.cancel()).isTrue();
      assertCancelled(fiber);
      assertThat(cleanUps).hasValue(1);
      assertThat(thrown.get()).isNotNull();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join).withNoCause();
    }
  }

  @Test
  void cancellingTwiceOrTooLateReturnsFalse() throws Exception {
    try (Scheduler scheduler = start(1)) {
      Fiber<Void> fiber = scheduler.go(() -> Fiber.suspend());
      waits(fiber);
      assertThat(fiber.cancel()).isTrue();
      assertThat(fiber.cancel()).isFalse();
      assertCancelled(fiber);
      assertThat(fiber.cancel()).isFalse();

      Fiber<String> done = scheduler.go(() -> "done");
      done.join();
      assertThat(done.cancel()).isFalse();
      assertThat(done.join()).isEqualTo("done");
    }
  }

  @Test
  void everyWaitOfWeftsOwnFailsNotJustTheNext() throws Exception {
    try (Scheduler scheduler = start(1);
        Scheduler other = start(1)) {
      AtomicInteger failed = new AtomicInteger();
      Body[] waits = {
        () -> Fiber.sleep(Duration.ofHours(1)),
        () -> Fiber.suspend(),
        () -> {
          scheduler.schedule(Fiber.current().orElseThrow());
          Fiber.suspend(); // returns at once
        },
        () -> Fiber.yield(),
        () -> Fiber.switchTo(0),
        () -> Fiber.switchTo(other),
        () -> scheduler.go(() -> {}).join(),
        () -> Fiber.sleep(Duration.ofHours(1)),
      };
      Fiber<String> fiber =
          scheduler.go(
              () -> {
                for (Body wait : waits) {
                  try {
                    wait.run();
                  } catch (InterruptedException | CancellationException e) {
                    failed.incrementAndGet(); // continues after the failure
                  }
                }
                return "what it returns does not matter";
              });
      waits(fiber);
      fiber.cancel();
      assertCancelled(fiber);
      assertThat(failed).hasValue(waits.length);
    }
  }

  @Test
  void aFiberThatSwallowsTheInterruptAtAJdkWaitGoesOnToItsEnd() throws Exception {
    try (Scheduler scheduler = start(1)) {
      AtomicBoolean wentOn = new AtomicBoolean();
      Fiber<String> fiber =
          scheduler.go(
              () -> {
                try {
                  Thread.sleep(Duration.ofHours(1));
                } catch (InterruptedException e) {
                  wentOn.set(!Thread.currentThread().isInterrupted());
                }
                return "result";
              });
      waits(fiber);
      fiber.cancel();
      assertCancelled(fiber);
      assertThat(wentOn).isTrue();
    }
  }

  @Test
  void anExceptionOfACancelledBodyIsTheCause() throws Exception {
    try (Scheduler scheduler = start(1)) {
      IllegalStateException failure = new IllegalStateException("clean-up failed");
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                try {
                  Fiber.suspend();
                } finally {
                  throwIt(failure);
                }
              });
      waits(fiber);
      fiber.cancel();
      assertThatExceptionOfType(CancellationException.class)
          .isThrownBy(fiber::join)
          .withCause(failure);
    }
  }

  private static void throwIt(RuntimeException e) {
    throw e;
  }

  @Test
  void aRunningFiberSeesItsCancelAtItsNextWait() throws Exception {
    try (Scheduler scheduler = start(2)) {
      AtomicBoolean go = new AtomicBoolean();
      AtomicBoolean interrupted = new AtomicBoolean();
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                while (!go.get()) {
                  Thread.onSpinWait();
                }
                interrupted.set(Thread.currentThread().isInterrupted());
                Fiber.yield();
                throw new AssertionError("the sleep should have failed");
              });
      eventually("the fiber runs", () -> fiber.status() == Fiber.Status.RUNNING);
      assertThat(fiber.cancel()).isTrue();
      go.set(true);
      assertCancelled(fiber);
      assertThat(interrupted).isTrue();
    }
  }

  @Test
  void aFiberMayCancelItself() throws Exception {
    try (Scheduler scheduler = start(1)) {
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                assertThat(Fiber.current().orElseThrow().cancel()).isTrue();
                Fiber.suspend();
              });
      assertCancelled(fiber);
    }
  }

  @Test
  void joiningACancelledFiberDoesNotCancelTheCaller() throws Exception {
    try (Scheduler scheduler = start(1)) {
      Fiber<Void> cancelled = scheduler.go(() -> Fiber.suspend());
      Fiber<String> joiner =
          scheduler.go(
              () -> {
                assertThatExceptionOfType(CancellationException.class).isThrownBy(cancelled::join);
                Fiber.sleep(Duration.ofMillis(1));
                return "fine";
              });
      waits(joiner);
      cancelled.cancel();
      assertThat(joiner.join()).isEqualTo("fine");
    }
  }

  @Test
  void aCancelThatMeetsTheEndEitherWinsOrComesTooLate() throws Exception {
    try (Scheduler scheduler = start(2)) {
      int won = 0;
      for (int i = 0; i < 3_000; i++) {
        Fiber<Integer> fiber = scheduler.go(() -> 42);
        for (int k = 0; k < i % 50; k++) {
          Thread.onSpinWait();
        }
        boolean cancelled = fiber.cancel();
        try {
          assertThat(fiber.join()).isEqualTo(42);
          assertThat(cancelled).isFalse();
        } catch (CancellationException e) {
          assertThat(cancelled).isTrue();
          won++;
        }
      }
      assertThat(won).isPositive();
    }
  }

  @Test
  void aJoinThatGivesUpLeavesNoTrace() throws Exception {
    try (Scheduler scheduler = start(2)) {
      Fiber<Void> never = scheduler.go(() -> Fiber.suspend());
      Fiber<?>[] joiners = new Fiber<?>[20_000];
      for (int i = 0; i < joiners.length; i++) {
        joiners[i] = scheduler.go(() -> never.join());
      }
      for (Fiber<?> joiner : joiners) {
        waits(joiner);
      }
      joiners[0].cancel(); // the oldest caller, deepest in the list
      assertCancelled(joiners[0]);
      assertThatExceptionOfType(TimeoutException.class)
          .isThrownBy(() -> never.join(Duration.ofMillis(1)))
          .withMessageContaining(never + " has not ended within PT0.001S");
      scheduler.schedule(never);
      for (int i = 1; i < joiners.length; i++) {
        joiners[i].join();
      }
    }
  }

  @Test
  void aFiberIsDoneAndCancelledAsAFutureIs() throws Exception {
    try (Scheduler scheduler = start(1)) {
      CountDownLatch mayEnd = new CountDownLatch(1);
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                try {
                  Fiber.suspend();
                } finally {
                  boolean ended = false;
                  while (!ended) {
                    try {
                      mayEnd.await();
                      ended = true;
                    } catch (InterruptedException e) {
                      // the cancel, which has to wait
                    }
                  }
                }
              });
      waits(fiber);
      assertThat(fiber.isDone()).isFalse();
      assertThat(fiber.isCancelled()).isFalse();
      fiber.cancel();
      assertThat(fiber.isDone()).as("while the fiber is being cancelled").isFalse();
      assertThat(fiber.isCancelled()).as("while the fiber is being cancelled").isFalse();
      mayEnd.countDown();
      assertCancelled(fiber);
      assertThat(fiber.isDone()).isTrue();
      assertThat(fiber.isCancelled()).isTrue();
      Fiber<Integer> good = scheduler.go(() -> 1);
      good.join();
      assertThat(good.isDone()).isTrue();
      assertThat(good.isCancelled()).isFalse();
      Fiber<Integer> bad =
          scheduler.go(
              () -> {
                throw new IllegalStateException("deliberate");
              });
      assertThatExceptionOfType(CompletionException.class).isThrownBy(bad::join);
      assertThat(bad.isDone()).isTrue();
      assertThat(bad.isCancelled()).isFalse();
    }
  }

  @Test
  void aFiberThatJoinsItselfIsRefused() throws Exception {
    try (Scheduler scheduler = start(1)) {
      scheduler
          .go(
              () -> {
                Fiber<?> self = Fiber.current().orElseThrow();
                assertThatIllegalStateException()
                    .isThrownBy(self::join)
                    .withMessage("cannot join " + self + ": it would wait for itself");
                assertThatIllegalStateException().isThrownBy(() -> self.join(Duration.ofMillis(1)));
              })
          .join();
    }
  }
}
