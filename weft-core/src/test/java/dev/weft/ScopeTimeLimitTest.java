package dev.weft;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.WithTimeoutTest.Place;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Time limits around scopes: the fibers of a scope inside the limit do not outlive it. */
@Feature({"S16", "X3"})
class ScopeTimeLimitTest {
  private static final Duration SOON = Duration.ofMillis(20);
  private static final Duration LATE = Duration.ofHours(1);

  /** Returns when the fiber has ended, without a wait: only other threads can end it. */
  private static void spinUntilDone(Fiber<?> fiber) {
    long start = System.nanoTime();
    while (fiber.status() != Fiber.Status.DONE) {
      assertThat(System.nanoTime() - start).isLessThan(Duration.ofSeconds(15).toNanos());
      Thread.onSpinWait();
    }
  }

  /** Returns when the limit has interrupted this thread, and leaves its status set. */
  private static void spinUntilLate() {
    long start = System.nanoTime();
    while (!Thread.currentThread().isInterrupted()) {
      assertThat(System.nanoTime() - start).isLessThan(Duration.ofSeconds(15).toNanos());
      Thread.onSpinWait();
    }
  }

  @ParameterizedTest
  @EnumSource
  void fibersInsideTheLimitAreCancelledAlsoIfTheOpenerDoesNotWait(Place place) throws Exception {
    place.run(
        () ->
            Weft.withTimeout(
                SOON,
                () -> {
                  try (Scope scope = Scope.open()) {
                    AtomicReference<Fiber<?>> below = new AtomicReference<>();
                    Fiber<Void> child = scope.go(() -> openAndWait(below));
                    spinUntilDone(child);
                    assertThat(Objects.requireNonNull(below.get()).status())
                        .isEqualTo(Fiber.Status.DONE);
                    scope.cancel(); // so that close does not throw because of the missing join
                  } catch (CancellationException e) {
                    assertThat(e).hasMessageContaining("by the time limit around it");
                  }
                }));
  }

  private static void openAndWait(AtomicReference<Fiber<?>> below) {
    try (Scope scope = Scope.open()) {
      below.set(scope.go(() -> ScopeTest.forEver()));
      scope.join();
    }
  }

  @ParameterizedTest
  @EnumSource
  void fibersOutsideTheLimitGoOn(Place place) throws Exception {
    place.run(
        () -> {
          try (Scope outer = Scope.open()) {
            CountDownLatch over = new CountDownLatch(1);
            Fiber<String> around =
                outer.go(
                    () -> {
                      over.await();
                      return "fine";
                    });
            assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(
                    () ->
                        Weft.withTimeout(
                            SOON,
                            () -> {
                              try (Scope inner = Scope.open()) {
                                inner.go(() -> ScopeTest.forEver());
                                inner.join();
                              }
                            }));
            over.countDown();
            outer.join();
            assertThat(around.join()).isEqualTo("fine");
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void joinFailsThoughTheCancelledFibersHaveEnded(Place place) throws Exception {
    place.run(
        () ->
            assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(
                    () ->
                        Weft.withTimeout(
                            SOON,
                            () -> {
                              try (Scope scope = Scope.open()) {
                                spinUntilDone(scope.go(() -> ScopeTest.forEver()));
                                scope.join();
                              }
                              return "as if the work were done";
                            }))
                .withCauseInstanceOf(CancellationException.class));
  }

  @ParameterizedTest
  @EnumSource
  void aBodyThatEndedInTimeIsNotFailedByALateJoin(Place place) throws Exception {
    place.run(
        () -> {
          String result =
              Weft.withTimeout(
                  SOON,
                  () -> {
                    try (Scope scope = Scope.open()) {
                      Fiber<String> child = scope.go(() -> "in time");
                      spinUntilDone(child);
                      spinUntilLate();
                      scope.join();
                      return child.join();
                    }
                  });
          assertThat(result).isEqualTo("in time");
        });
  }

  @ParameterizedTest
  @EnumSource
  void inAScopeOpenedAfterTheLimitNothingRuns(Place place) throws Exception {
    place.run(
        () -> {
          AtomicBoolean ran = new AtomicBoolean();
          assertThatExceptionOfType(TimeoutException.class)
              .isThrownBy(
                  () ->
                      Weft.withTimeout(
                          SOON,
                          () -> {
                            spinUntilLate();
                            try (Scope scope = Scope.open()) {
                              scope.go(() -> ran.set(true));
                              scope.join();
                            }
                          }));
          assertThat(ran).isFalse();
          try (Scope scope = Scope.open()) { // after the limit scopes work again
            scope.go(() -> ran.set(true));
            scope.join();
          }
          assertThat(ran).isTrue();
        });
  }

  /** A worker that waited for the scope's lock would wait for a fiber that only it can run. */
  @Test
  void theWorkerDoesNotWaitForAScopeThatIsInUse() throws Exception {
    CountDownLatch released = new CountDownLatch(1);
    Scope.Joiner<String> waiting =
        new Scope.Joiner<>() {
          @Override
          public boolean onGo(Fiber<?> fiber) {
            boolean interrupted = false;
            while (released.getCount() > 0) { // a joiner should not wait, but this joiner does
              try {
                released.await();
              } catch (InterruptedException e) {
                interrupted = true;
              }
            }
            return interrupted;
          }

          @Override
          public String result() {
            return "";
          }
        };
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> opener =
          scheduler.go(
              () ->
                  Weft.withTimeout(
                      SOON,
                      () -> {
                        try (Scope scope = Scope.open(waiting)) {
                          scope.go(() -> ScopeTest.forEver());
                          scope.join();
                        }
                      }));
      eventually("the opener waits in the joiner", () -> opener.status() == Fiber.Status.WAITING);
      Fiber<Void> after = scheduler.go(() -> Fiber.sleep(SOON.multipliedBy(2)));
      assertThat(after.toFuture()).succeedsWithin(Duration.ofSeconds(15));
      released.countDown();
      assertThat(opener.toFuture())
          .failsWithin(Duration.ofSeconds(15))
          .withThrowableThat()
          .withCauseInstanceOf(TimeoutException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theLimitOfAGeneratorDoesNotApplyToScopesOfItsConsumer(Place place) throws Exception {
    place.run(
        () -> {
          CountDownLatch over = new CountDownLatch(1);
          Generator<String> generator = Generator.of(ScopeTimeLimitTest::limited);
          assertThat(generator.next()).isEqualTo("within");
          try (Scope scope = Scope.open()) {
            Fiber<Void> child = scope.go(() -> over.await());
            assertThat(generator.next()).isEqualTo("over");
            over.countDown();
            scope.join();
            assertThat(child.toFuture()).isCompleted();
          }
          assertThat(generator.hasNext()).isFalse();
        });
  }

  private static void limited(Generator.Emitter<String> out) throws Exception {
    try {
      Weft.withTimeout(
          SOON,
          () -> {
            out.emit("within");
            Fiber.sleep(LATE);
          });
    } catch (TimeoutException e) {
      out.emit("over");
    }
  }

  @Test
  void aLimitThatPassesAsScopesComeAndGoLeavesNothingRunning() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                for (int i = 0; i < 300; i++) {
                  int tries = i;
                  try {
                    Weft.withTimeout(
                        Duration.ofNanos(150_000 + 1_000 * tries),
                        () -> {
                          while (true) {
                            try (Scope scope = Scope.open()) {
                              scope.go(() -> Fiber.yield());
                              scope.go(() -> Fiber.sleep(Duration.ofNanos(1_000L * tries)));
                              scope.join();
                            }
                          }
                        });
                  } catch (TimeoutException e) {
                    assertThat(Thread.currentThread().isInterrupted()).isFalse();
                  }
                }
              });
      fiber.join();
      eventually("no fiber is left", () -> scheduler.dump().fibers().isEmpty());
    }
  }
}
