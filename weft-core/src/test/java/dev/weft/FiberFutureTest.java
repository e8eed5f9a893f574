package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.sync.Mutex;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The future of a fiber's result, and its callbacks. */
@Timeout(20)
class FiberFutureTest {
  @Test
  @Feature("S5")
  void aCallbackThatWaitsIsPartOfTheFiberAndIsWaitedForByStop() throws Exception {
    CountDownLatch dependentsHang = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicBoolean calledBack = new AtomicBoolean();
    Scheduler scheduler = Scheduler.builder().threads(1).build();
    Fiber<String> fiber =
        scheduler.go(
            () -> {
              dependentsHang.await();
              return "result";
            });
    CompletableFuture<Void> dependent =
        fiber
            .toFuture()
            .thenAccept(
                result -> {
                  try {
                    goOn.await();
                    Fiber.yield();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  calledBack.set(true);
                });
    scheduler.start();
    dependentsHang.countDown();
    assertThat(fiber.join()).isEqualTo("result");
    goOn.countDown();
    scheduler.stop();
    assertThat(calledBack).isTrue();
    assertThat(dependent).isCompleted();
    assertThat(scheduler.stats().begun()).isEqualTo(1);
    assertThat(scheduler.stats().ended()).isEqualTo(1);
  }

  @Test
  @Feature("S15")
  void theCallbackOfAFiberCancelledBeforeItsStartRunsInAFiberToo() {
    Scheduler scheduler = Scheduler.builder().threads(1).build();
    AtomicBoolean ran = new AtomicBoolean();
    Fiber<Void> fiber = scheduler.go(() -> ran.set(true));
    CompletableFuture<Boolean> inFiber =
        fiber.toFuture().handle((result, failure) -> Fiber.current().isPresent());
    fiber.cancel();
    scheduler.start().stop();
    assertThat(inFiber).isCompletedWithValue(true);
    assertThat(ran).isFalse();
  }

  @Test
  @Feature("X1")
  void theCallbacksOfAScopesFibersHaveEndedAfterJoin() {
    for (int i = 0; i < 100; i++) {
      AtomicBoolean calledBack = new AtomicBoolean();
      CompletableFuture<Void> dependent;
      try (Scope scope = Scope.open()) {
        CountDownLatch goOn = new CountDownLatch(1);
        dependent =
            scope
                .go(() -> goOn.await())
                .toFuture()
                .thenRun(
                    () -> {
                      Fiber.yield();
                      calledBack.set(true);
                    });
        goOn.countDown();
        scope.join();
        assertThat(calledBack).isTrue();
        assertThat(dependent).isCompleted();
      }
    }
  }

  @Test
  @Feature("X1")
  void aFailureCancelsTheOthersOfItsScopeBeforeCallbacksThatMayWaitForThem() {
    try (Scope scope = Scope.open(Scope.Joiner.awaitAllSuccessfulOrThrow())) {
      Fiber<Void> other = scope.go(() -> ScopeTest.forEver());
      CountDownLatch goOn = new CountDownLatch(1);
      var dependent =
          scope
              .go(
                  () -> {
                    goOn.await();
                    throw new IllegalStateException("planned");
                  })
              .toFuture()
              .handle(
                  (result, failure) -> {
                    Eventually.eventually("cancelled", () -> other.status() == Fiber.Status.DONE);
                    return failure;
                  });
      goOn.countDown();
      assertThatExceptionOfType(CompletionException.class).isThrownBy(scope::join);
      assertThat(dependent).isCompleted();
    }
  }

  @Test
  @Feature("Y1")
  @SuppressWarnings("LockNotBeforeTry") // the test checks single steps
  void aCallbackMayWaitForAMutexAndGetsIt() throws Exception {
    Mutex mutex = new Mutex();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      CountDownLatch goOn = new CountDownLatch(1);
      Fiber<Void> fiber = scheduler.go(() -> goOn.await());
      CompletableFuture<Void> dependent =
          fiber
              .toFuture()
              .thenRun(
                  () -> {
                    mutex.lock();
                    mutex.unlock();
                  });
      mutex.lock();
      goOn.countDown();
      fiber.join();
      mutex.unlock();
      assertThat(dependent).succeedsWithin(Duration.ofSeconds(15));
    }
  }
}
