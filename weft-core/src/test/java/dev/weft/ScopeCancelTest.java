package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.internal.Uninterrupted;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Cancelling scopes, and their deadlines. */
@Feature("X3")
class ScopeCancelTest {
  private static final Duration SOON = Duration.ofMillis(5);
  private static final Duration LATE = Duration.ofHours(1);

  /** Opens nested scopes of this depth, two fibers in each, and waits for ever at the bottom. */
  private static void tree(int depth, AtomicInteger leaves, AtomicInteger ended) throws Exception {
    try {
      if (depth == 0) {
        leaves.incrementAndGet();
        ScopeTest.forEver();
      }
      try (Scope scope = Scope.open()) {
        scope.go(() -> tree(depth - 1, leaves, ended));
        scope.go(() -> tree(depth - 1, leaves, ended));
        scope.join();
      }
    } finally {
      ended.incrementAndGet();
    }
  }

  @Test
  void cancellingAScopeCancelsItsTree() {
    AtomicInteger leaves = new AtomicInteger();
    AtomicInteger ended = new AtomicInteger();
    try (Scope scope = Scope.open()) {
      Fiber<Void> root = scope.go(() -> tree(5, leaves, ended));
      eventually("all leaves wait", () -> leaves.get() == 32);
      scope.cancel();
      scope.join();
      assertThat(ended).hasValue(63);
      assertThatExceptionOfType(CancellationException.class).isThrownBy(root::join);
    }
  }

  @Test
  void theTreeIsCancelledAlsoBelowAFiberAtNoCancelPoint() throws Exception {
    AtomicBoolean release = new AtomicBoolean();
    try (Scheduler scheduler = Scheduler.builder().threads(3).build().start()) {
      ConcurrentLinkedQueue<Fiber<?>> below = new ConcurrentLinkedQueue<>();
      Fiber<Void> owner =
          scheduler.go(
              () -> {
                try (Scope scope = Scope.open()) {
                  below.add(scope.go(() -> ScopeTest.forEver()));
                  while (!release.get()) {
                    Thread.onSpinWait(); // not a cancel point
                  }
                }
              });
      eventually("the inner fiber has started", () -> !below.isEmpty());
      owner.cancel();
      eventually("cancelled", () -> below.peek().status() == Fiber.Status.DONE);
      assertThat(owner.status()).isNotEqualTo(Fiber.Status.DONE);
      release.set(true);
      assertThatExceptionOfType(CancellationException.class).isThrownBy(owner::join).withNoCause();
    }
  }

  @Test
  void inACancelledScopeNothingRunsAnyMore() {
    AtomicBoolean ran = new AtomicBoolean();
    try (Scope scope = Scope.open()) {
      scope.cancel();
      Fiber<Void> fiber = scope.go(() -> ran.set(true));
      scope.join();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join);
    }
    assertThat(ran).isFalse();
  }

  @Test
  void aScopeThatACancelledFiberOpensIsCancelled() {
    AtomicBoolean ran = new AtomicBoolean();
    Fiber<Void> fiber =
        Weft.go(
            () -> {
              Fiber.current().orElseThrow().cancel();
              try (Scope scope = Scope.open()) {
                scope.go(() -> ran.set(true));
                scope.join();
              }
            });
    assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join).withNoCause();
    assertThat(ran).isFalse();
  }

  @Test
  void anyThreadMayCancelAndThenNoJoinIsNeeded() {
    try (Scope scope = Scope.open()) {
      scope.go(() -> ScopeTest.forEver());
      scope.go(scope::cancel);
      scope.join();
    }
    try (Scope scope = Scope.open()) {
      scope.go(() -> ScopeTest.forEver());
      scope.cancel();
    }
  }

  @Test
  void anInterruptEndsJoinAndCloseEndsTheRest() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    AtomicBoolean interrupted = new AtomicBoolean();
    AtomicBoolean ended = new AtomicBoolean();
    Thread opener =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (Scope scope = Scope.open()) {
                    scope.go(
                        () -> {
                          try {
                            started.countDown();
                            ScopeTest.forEver();
                          } finally {
                            ended.set(true);
                          }
                        });
                    scope.join();
                  } catch (CancellationException e) {
                    interrupted.set(
                        Thread.interrupted() && e.getCause() instanceof InterruptedException);
                  }
                });
    started.await();
    opener.interrupt();
    opener.join();
    assertThat(interrupted).isTrue();
    assertThat(ended).isTrue();
  }

  @Test
  void atTheDeadlineTheFibersAreCancelledAndJoinSaysWhy() throws Exception {
    Fiber<Void> opener =
        Weft.go(
            () -> {
              try (Scope scope = Scope.open(Scope.Joiner.awaitAllSuccessfulOrThrow(), SOON)) {
                Fiber<Void> late = scope.go(() -> ScopeTest.forEver());
                assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(scope::join)
                    .withCauseInstanceOf(TimeoutException.class)
                    .withMessageContaining("was not done within PT0.005S");
                assertThatExceptionOfType(CancellationException.class).isThrownBy(late::join);
              }
            });
    opener.join();
  }

  @Test
  void theDeadlineHoldsForFibersSubmittedAfterIt() {
    try (Scope scope = Scope.open(Scope.Joiner.awaitAll(), SOON)) {
      scope.go(() -> {});
      eventually("the deadline has passed", () -> neverRuns(scope.go(() -> {})));
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .withCauseInstanceOf(TimeoutException.class);
    }
  }

  private static boolean neverRuns(Fiber<Void> fiber) {
    try {
      fiber.join();
      return false;
    } catch (CancellationException e) {
      return true;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aScopeThatEndedInTimeIsNotFailedByALateJoin() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      scheduler
          .go(
              () -> {
                Duration limit = Duration.ofMillis(300);
                try (Scope scope = Scope.open(Scope.Joiner.awaitAll(), limit)) {
                  scope.go(() -> "in time").join();
                  while (scheduler.timers().pending() > 0) {
                    Fiber.sleep(Duration.ofMillis(1)); // until the deadline has passed
                  }
                  scope.join();
                }
              })
          .join();
    }
  }

  @Test
  void theNearestLimitWins() {
    Fiber<Void> fiber =
        Weft.go(
            () -> {
              assertThatExceptionOfType(TimeoutException.class)
                  .isThrownBy(
                      () ->
                          Weft.withTimeout(
                              SOON,
                              () -> {
                                try (Scope scope =
                                    Scope.open(Scope.Joiner.awaitAllSuccessfulOrThrow(), LATE)) {
                                  scope.go(() -> ScopeTest.forEver());
                                  scope.join();
                                }
                                return "unreachable";
                              }))
                  .withMessageContaining("not done within");
              Weft.withTimeout(
                  LATE,
                  () -> {
                    try (Scope outer = Scope.open(Scope.Joiner.awaitAllSuccessfulOrThrow(), SOON)) {
                      outer.go(
                          () -> {
                            try (Scope inner =
                                Scope.open(Scope.Joiner.awaitAllSuccessfulOrThrow(), LATE)) {
                              inner.go(() -> ScopeTest.forEver());
                              inner.join();
                            }
                          });
                      assertThatExceptionOfType(CompletionException.class)
                          .isThrownBy(outer::join)
                          .withCauseInstanceOf(TimeoutException.class);
                    }
                    return "done";
                  });
            });
    assertThat(fiber.toFuture()).succeedsWithin(Duration.ofSeconds(15));
  }

  @Test
  void aClosedScopeLeavesNoTimerBehind() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      scheduler
          .go(
              () -> {
                try (Scope scope = Scope.open(Scope.Joiner.awaitAll(), LATE)) {
                  scope.go(() -> {});
                  scope.join();
                }
                assertThat(scheduler.timers().pending()).isZero();
              })
          .join();
    }
  }

  @Test
  void aCancelThatMeetsGoLeavesNothingRunning() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      for (int i = 0; i < 500; i++) {
        AtomicInteger begun = new AtomicInteger();
        Fiber<Void> owner =
            scheduler.go(
                () -> {
                  try (Scope scope = Scope.open()) {
                    for (int k = 0; k < 10; k++) {
                      scope.go(() -> ScopeTest.forEver());
                      begun.incrementAndGet();
                    }
                    scope.join();
                  }
                });
        int wanted = i % 11;
        while (begun.get() < wanted) {
          Thread.onSpinWait();
        }
        owner.cancel();
        assertThatExceptionOfType(CancellationException.class).isThrownBy(owner::join);
      }
      eventually("no fiber is left", () -> scheduler.dump().fibers().isEmpty());
    }
  }

  @Test
  void aDumpShowsTheScopeThatAFiberWaitsFor() throws Exception {
    Fiber<Void> owner =
        Weft.go(
            () -> {
              try (Scope scope = Scope.open()) {
                scope.go(() -> ScopeTest.forEver());
                scope.join();
              }
            });
    waits(owner);
    eventually(
        "the dump says so",
        () -> Scheduler.shared().dump().text().contains("waits for scope of " + owner));
    owner.cancel();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(owner::join);
  }

  /** Opens nested scopes of this depth, and waits for ever at the bottom. */
  private static void chain(int depth, CountDownLatch bottom) throws Exception {
    if (depth == 0) {
      bottom.countDown();
      ScopeTest.forEver();
    }
    try (Scope scope = Scope.open()) {
      scope.go(() -> chain(depth - 1, bottom));
      scope.join();
    }
  }

  @Test
  void aTreeDeeperThanTheStackIsCancelledToo() throws Exception {
    CountDownLatch bottom = new CountDownLatch(1);
    Fiber<Void> root = Weft.go(() -> chain(5_000, bottom));
    bottom.await();
    Thread ofLittleStack = new Thread(null, root::cancel, "canceller", 256 * 1024);
    ofLittleStack.start();
    ofLittleStack.join();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(root::join);
  }

  @Test
  void inACancelledScopeGoTakesConstantTime() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Long> opener =
          scheduler.go(
              () -> {
                try (Scope scope = Scope.open(Scope.Joiner.awaitAll())) {
                  scope.cancel();
                  long start = System.nanoTime();
                  for (int i = 0; i < 60_000; i++) {
                    scope.go(() -> {}); // on this one thread none of the fibers can end meanwhile
                  }
                  return System.nanoTime() - start;
                }
              });
      assertThat(opener.join()).as("not quadratic").isLessThan(Duration.ofSeconds(5).toNanos());
    }
  }

  /** Ends normally after the deadline, whatever interrupts it. */
  private static void outlive(Duration limit, CountDownLatch begun) {
    begun.countDown();
    CountDownLatch over = new CountDownLatch(1);
    SchedulerCore.here().timers().after(limit.plusMillis(100), over::countDown);
    Uninterrupted.await(over::await);
  }

  @Test
  void aDeadlineThatPassesAfterTheDecisionChangesNothing() throws Exception {
    Duration limit = Duration.ofMillis(300);
    IllegalStateException failure = new IllegalStateException("planned");
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      Body succeeds =
          () -> {
            Scope.Joiner<String> any = Scope.Joiner.anySuccessfulResultOrThrow();
            try (Scope scope = Scope.open(any, limit)) {
              CountDownLatch begun = new CountDownLatch(1);
              scope.go(() -> outlive(limit, begun));
              scope.go(
                  () -> {
                    begun.await();
                    return "first";
                  });
              scope.join();
              assertThat(any.result()).isEqualTo("first");
            }
          };
      Body fails =
          () -> {
            try (Scope scope = Scope.open(Scope.Joiner.awaitAllSuccessfulOrThrow(), limit)) {
              CountDownLatch begun = new CountDownLatch(1);
              scope.go(() -> outlive(limit, begun));
              scope.go(
                  () -> {
                    begun.await();
                    throw failure;
                  });
              assertThatExceptionOfType(CompletionException.class)
                  .isThrownBy(scope::join)
                  .withCause(failure);
            }
          };
      scheduler.go(succeeds).join();
      scheduler.go(fails).join();
    }
  }

  @Test
  void afterAnInterruptedJoinCloseDoesNotThrow() throws Exception {
    Scope scope = Scope.open();
    Fiber<Void> fiber = scope.go(() -> ScopeTest.forEver());
    Thread.currentThread().interrupt();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(scope::join);
    assertThat(Thread.interrupted()).isTrue();
    scope.close();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join);
  }

  @Test
  void aDeadlineInThePastHasPassed() {
    try (Scope scope = Scope.open(Scope.Joiner.awaitAll(), Duration.ofSeconds(-1))) {
      scope.go(() -> ScopeTest.forEver());
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .withCauseInstanceOf(TimeoutException.class);
    }
  }
}
