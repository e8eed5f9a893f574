package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Scopes: no fiber outlives its block, and how failures come out of it. */
@Feature("X1")
class ScopeTest {
  /** The kind of thread that opens the scope. */
  enum Opener {
    FIBER {
      @Override
      void run(Body body) throws Exception {
        try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
          scheduler.go(body).join();
        }
      }
    },
    PLAIN_THREAD {
      @Override
      void run(Body body) throws Exception {
        body.run();
      }
    };

    abstract void run(Body body) throws Exception;
  }

  static void forEver() throws InterruptedException {
    Fiber.sleep(Duration.ofDays(1));
  }

  @ParameterizedTest
  @EnumSource
  void itsFibersRunOnTheOpenersSchedulerAndHaveEndedAfterJoin(Opener opener) throws Exception {
    opener.run(
        () -> {
          Scheduler expected = Scheduler.current().orElse(Scheduler.shared());
          try (Scope scope = Scope.open()) {
            List<Fiber<Integer>> fibers = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
              int mine = i;
              fibers.add(
                  scope.go(
                      () -> {
                        Fiber.sleep(Duration.ofNanos(mine));
                        assertThat(Scheduler.current()).contains(expected);
                        return mine;
                      }));
            }
            scope.join();
            for (int i = 0; i < 100; i++) {
              assertThat(fibers.get(i).status()).isEqualTo(Fiber.Status.DONE);
              assertThat(fibers.get(i).join()).isEqualTo(i);
            }
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void theFirstFailureCancelsTheOtherFibersAndTheirFailuresAreSuppressed(Opener opener)
      throws Exception {
    opener.run(
        () -> {
          AtomicInteger cleanedUp = new AtomicInteger();
          IOException first = new IOException("first");
          IllegalStateException second = new IllegalStateException("while cleaning up");
          try (Scope scope = Scope.open()) {
            CountDownLatch started = new CountDownLatch(2);
            Fiber<Void> good =
                scope.go(
                    () -> {
                      try {
                        started.countDown();
                        forEver();
                      } finally {
                        cleanedUp.incrementAndGet();
                      }
                    });
            scope.go(
                () -> {
                  try {
                    started.countDown();
                    forEver();
                  } catch (InterruptedException e) {
                    throw second;
                  }
                });
            scope.go(
                () -> {
                  started.await();
                  throw first;
                });
            assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(scope::join)
                .withCause(first)
                .satisfies(e -> assertThat(e.getSuppressed()).containsExactly(second));
            assertThat(good.status()).isEqualTo(Fiber.Status.DONE);
            assertThatExceptionOfType(CancellationException.class).isThrownBy(good::join);
          }
          assertThat(cleanedUp).hasValue(1);
        });
  }

  @ParameterizedTest
  @EnumSource
  void whenTheBlockThrowsItsFibersAreCancelledAndAwaited(Opener opener) throws Exception {
    opener.run(
        () -> {
          AtomicBoolean ended = new AtomicBoolean();
          CountDownLatch started = new CountDownLatch(1);
          IOException thrown = new IOException("in the block");
          assertThatExceptionOfType(IOException.class)
              .isThrownBy(
                  () -> {
                    try (Scope scope = Scope.open()) {
                      scope.go(
                          () -> {
                            try {
                              started.countDown();
                              forEver();
                            } finally {
                              ended.set(true);
                            }
                          });
                      started.await();
                      throw thrown;
                    }
                  })
              .isSameAs(thrown);
          assertThat(ended).isTrue();
        });
  }

  @Test
  void closeAlsoWaitsForAFiberThatIgnoresItsCancel() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    AtomicReference<Fiber<?>> stubborn = new AtomicReference<>();
    Fiber<Fiber.Status> owner =
        Weft.go(
            () -> {
              try (Scope scope = Scope.open()) {
                stubborn.set(
                    scope.go(
                        () -> {
                          while (release.getCount() > 0) {
                            try {
                              release.await();
                            } catch (InterruptedException e) {
                              Thread.onSpinWait(); // ignores the cancel
                            }
                          }
                        }));
                Fiber.suspend();
                return stubborn.get().status();
              } finally {
                assertThat(stubborn.get().status()).isEqualTo(Fiber.Status.DONE);
              }
            });
    eventually("the fiber runs", () -> stubborn.get() != null);
    waits(stubborn.get());
    waits(owner);
    owner.cancel();
    owner.thread().interrupt(); // neither ends the wait of close
    waits(owner);
    assertThat(owner.status()).isNotEqualTo(Fiber.Status.DONE);
    release.countDown();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(owner::join).withNoCause();
  }

  @Test
  void aFailureComesOutOfCloseWithoutJoin() {
    IOException failure = new IOException("nobody joins");
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(
            () -> {
              try (Scope scope = Scope.open()) {
                Fiber<Void> fiber =
                    scope.go(
                        () -> {
                          throw failure;
                        });
                eventually("the fiber has failed", () -> fiber.status() == Fiber.Status.DONE);
              }
            })
        .withCause(failure);
  }

  @Test
  void aCancelledFiberIsNoFailure() throws Exception {
    try (Scope scope = Scope.open()) {
      Fiber<Void> one = scope.go(() -> forEver());
      Fiber<String> other = scope.go(() -> "fine");
      one.cancel();
      scope.join();
      assertThat(other.join()).isEqualTo("fine");
    }
  }

  @Test
  void theSameExceptionTwiceIsOneFailure() {
    IllegalStateException shared = new IllegalStateException("shared");
    try (Scope scope = Scope.open()) {
      CountDownLatch both = new CountDownLatch(2);
      for (int i = 0; i < 2; i++) {
        scope.go(
            () -> {
              both.countDown();
              try {
                both.await();
              } finally {
                throwIt(shared);
              }
            });
      }
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .withCause(shared)
          .satisfies(e -> assertThat(e.getSuppressed()).isEmpty());
    }
  }

  private static void throwIt(RuntimeException e) {
    throw e;
  }

  @Test
  void manyFibersThatEndLeaveNothingInTheScope() throws Exception {
    try (Scope scope = Scope.open()) {
      for (int i = 0; i < 10_000; i++) {
        scope.go(() -> {});
      }
      scope.join();
      assertThat(scope)
          .extracting("running")
          .asInstanceOf(InstanceOfAssertFactories.COLLECTION)
          .isEmpty();
    }
  }

  // ---- misuse ----

  @Test
  void onlyTheOpenerMayJoinAndClose() throws Exception {
    Thread opener = Thread.currentThread();
    try (Scope scope = Scope.open()) {
      Fiber<Void> other =
          scope.go(
              () -> {
                Fiber<?> self = Fiber.current().orElseThrow();
                for (Body use : List.<Body>of(scope::join, scope::close)) {
                  assertThatIllegalStateException()
                      .isThrownBy(use::run)
                      .withMessageContaining(scope + ": ")
                      .withMessageContaining(
                          "only %s may, which opened it, not %s".formatted(opener, self));
                }
              });
      scope.join();
      other.join();
    }
  }

  @Test
  void afterJoinAndCloseAScopeTakesNoMoreFibers() {
    Scope scope = Scope.open();
    scope.go(() -> {});
    scope.join();
    scope.join(); // a second join is harmless
    assertThatIllegalStateException()
        .isThrownBy(() -> scope.go(() -> {}))
        .withMessage("cannot go in " + scope + ": it has been joined; open a new scope");
    scope.close();
    scope.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> scope.go(() -> {}))
        .withMessage("cannot go in " + scope + ": it is closed");
    assertThatIllegalStateException()
        .isThrownBy(scope::join)
        .withMessage("cannot join " + scope + ": it is closed");
  }

  @Test
  void aMissingJoinIsReported() {
    assertThatIllegalStateException()
        .isThrownBy(
            () -> {
              try (Scope scope = Scope.open()) {
                scope.go(() -> forEver());
              }
            })
        .withMessageContaining("its fibers were cancelled, because there was no join()");
  }

  @Test
  @SuppressWarnings("MustBeClosedChecker")
  void closingInTheWrongOrderClosesBothAndSaysSo() {
    Scope outer = Scope.open();
    Scope inner = Scope.open();
    Fiber<Void> innermost = inner.go(() -> forEver());
    assertThatIllegalStateException()
        .isThrownBy(outer::join)
        .withMessageContaining("a scope opened after it is still open");
    assertThatIllegalStateException()
        .isThrownBy(outer::close)
        .withMessageContaining("scopes opened after it were still open; close them first");
    assertThat(innermost.status()).isEqualTo(Fiber.Status.DONE);
    inner.close();
    try (Scope scope = Scope.open()) {
      scope.go(() -> {});
      scope.join();
    }
  }
}
