package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** How joiners treat the ends of fibers. */
@Feature("X2")
class ScopeJoinerTest {
  private static Object fail(Exception e) throws Exception {
    throw e;
  }

  @Test
  void allSuccessfulHasTheResultsInTheOrderOfGo() {
    Scope.Joiner<List<Integer>> all = Scope.Joiner.allSuccessfulOrThrow();
    try (Scope scope = Scope.open(all)) {
      for (int i = 0; i < 20; i++) {
        int mine = i;
        scope.go(
            () -> {
              Fiber.sleep(Duration.ofMillis(20 - mine));
              return mine;
            });
      }
      scope.join();
      assertThat(all.result())
          .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19);
    }
  }

  @Test
  void allSuccessfulFailsWithTheFirstFailureAndCancelsTheRest() {
    IOException failure = new IOException();
    Scope.Joiner<List<Integer>> all = Scope.Joiner.allSuccessfulOrThrow();
    try (Scope scope = Scope.open(all)) {
      scope.go(() -> ScopeTest.forEver());
      scope.go(() -> fail(failure));
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .withCause(failure);
    }
  }

  @Test
  void allSuccessfulMissesAResultThatWasCancelled() {
    Scope.Joiner<List<Integer>> all = Scope.Joiner.allSuccessfulOrThrow();
    try (Scope scope = Scope.open(all)) {
      scope.go(() -> 1);
      scope.go(() -> ScopeTest.forEver()).cancel();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(scope::join);
    }
  }

  @Test
  void anySuccessfulTakesTheFirstAndCancelsTheRest() {
    Scope.Joiner<String> any = Scope.Joiner.anySuccessfulResultOrThrow();
    try (Scope scope = Scope.open(any)) {
      CountDownLatch failed = new CountDownLatch(1);
      Fiber<Void> loser = scope.go(() -> ScopeTest.forEver());
      scope.go(
          () -> {
            failed.countDown();
            return fail(new IOException());
          });
      scope.go(
          () -> {
            failed.await();
            return "winner";
          });
      scope.join();
      assertThat(any.result()).isEqualTo("winner");
      assertThat(loser.toFuture().state()).isEqualTo(Future.State.CANCELLED);
    }
  }

  @Test
  void anySuccessfulFailsIfAllFibersFail() {
    IOException first = new IOException("first");
    IOException second = new IOException("second");
    Scope.Joiner<String> any = Scope.Joiner.anySuccessfulResultOrThrow();
    try (Scope scope = Scope.open(any)) {
      Fiber<Object> one = scope.go(() -> fail(first));
      scope.go(
          () -> {
            while (one.status() != Fiber.Status.DONE) {
              Fiber.yield();
            }
            return fail(second);
          });
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .satisfies(
              e ->
                  assertThat(List.of(e.getCause(), e.getSuppressed()[0]))
                      .containsExactlyInAnyOrder(first, second));
    }
  }

  @Test
  void anySuccessfulWithoutFibersSaysSo() {
    try (Scope scope = Scope.open(Scope.Joiner.anySuccessfulResultOrThrow())) {
      assertThatExceptionOfType(CancellationException.class)
          .isThrownBy(scope::join)
          .withMessageContaining("no fiber of the scope succeeded");
    }
  }

  @Test
  void awaitAllCollectsSuccessesAndFailures() {
    Scope.Joiner<List<Fiber<?>>> all = Scope.Joiner.awaitAll();
    try (Scope scope = Scope.open(all)) {
      Fiber<Integer> good = scope.go(() -> 1);
      Fiber<Object> bad = scope.go(() -> fail(new IOException()));
      Fiber<Void> cancelled = scope.go(() -> ScopeTest.forEver());
      cancelled.cancel();
      scope.join();
      assertThat(all.result()).containsExactly(good, bad, cancelled);
      assertThat(all.result())
          .extracting(fiber -> fiber.toFuture().state())
          .containsExactly(Future.State.SUCCESS, Future.State.FAILED, Future.State.CANCELLED);
    }
  }

  @Test
  void aUsersJoinerIsCalledByOneThreadAtATime() {
    class Enough implements Scope.Joiner<Integer> {
      private int begun;
      private int ended;

      @Override
      public boolean onGo(Fiber<?> fiber) {
        begun++;
        return false;
      }

      @Override
      public boolean onComplete(Fiber<?> fiber) {
        return ++ended >= 500;
      }

      @Override
      public Integer result() {
        return begun - ended;
      }
    }
    Enough joiner = new Enough();
    try (Scope scope = Scope.open(joiner)) {
      scope.go(() -> ScopeTest.forEver());
      for (int i = 0; i < 1000; i++) {
        scope.go(() -> Fiber.yield());
      }
      scope.join();
      assertThat(joiner.result()).isZero();
    }
  }

  @Test
  void aJoinerThatFailsCancelsTheScopeAndComesOut() {
    IllegalStateException broken = new IllegalStateException("broken");
    Scope.Joiner<String> joiner =
        new Scope.Joiner<>() {
          @Override
          public boolean onComplete(Fiber<?> fiber) {
            throw broken;
          }

          @Override
          public String result() {
            return "unused";
          }
        };
    try (Scope scope = Scope.open(joiner)) {
      scope.go(() -> ScopeTest.forEver());
      scope.go(() -> {});
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .withCause(broken);
    }
  }

  @Test
  void aUsersJoinerThatMissesResultsDoesNotHideTheDeadline() {
    NoSuchElementException missing = new NoSuchElementException("no result");
    Scope.Joiner<String> joiner =
        () -> {
          throw missing;
        };
    try (Scope scope = Scope.open(joiner, Duration.ofMillis(1))) {
      scope.go(() -> ScopeTest.forEver());
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .withCauseInstanceOf(TimeoutException.class)
          .satisfies(e -> assertThat(e.getSuppressed()).containsExactly(missing));
    }
  }
}
