package dev.weft;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Mistakes in the use of scopes: no mistake is swallowed, and a scope left open is closed. */
@Feature("X4")
class ScopeMisuseTest {
  private static final class IgnoringJoiner implements Scope.Joiner<String> {
    @Override
    public String result() {
      return "well, whatever happened";
    }
  }

  static Stream<Supplier<Scope.Joiner<?>>> joiners() {
    return Stream.of(
        Scope.Joiner::awaitAll,
        Scope.Joiner::awaitAllSuccessfulOrThrow,
        Scope.Joiner::<Object>allSuccessfulOrThrow,
        Scope.Joiner::<Object>anySuccessfulResultOrThrow,
        IgnoringJoiner::new);
  }

  @ParameterizedTest
  @MethodSource("joiners")
  void aMisuseThatAFiberFailsWithComesOutOfJoin(Supplier<Scope.Joiner<?>> joiner) {
    try (Scope scope = Scope.open(joiner.get())) {
      CountDownLatch failed = new CountDownLatch(1);
      Fiber<Void> mistaken = scope.go(() -> scope.join());
      var _ = mistaken.toFuture().whenComplete((result, failure) -> failed.countDown());
      scope.go(
          () -> {
            failed.await();
            return "a success";
          });
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .withCauseInstanceOf(IllegalStateException.class)
          .withStackTraceContaining(
              "cannot join %s: only %s may, which opened it, not %s"
                  .formatted(scope, Thread.currentThread(), mistaken));
    }
  }

  @Test
  void aMisuseComesOutAlsoAsACauseOrSuppressed() {
    for (boolean suppressed : new boolean[] {true, false}) {
      try (Scope scope = Scope.open(Scope.Joiner.awaitAll())) {
        scope.go(
            () -> {
              try {
                scope.join();
              } catch (IllegalStateException e) {
                IOException wrapper = suppressed ? new IOException() : new IOException(e);
                if (suppressed) {
                  wrapper.addSuppressed(e);
                }
                throw wrapper;
              }
            });
        assertThatExceptionOfType(CompletionException.class)
            .isThrownBy(scope::join)
            .withStackTraceContaining("cannot join " + scope);
      }
    }
  }

  @Test
  void aMisuseComesOutThroughAnInnerScope() {
    try (Scope outer = Scope.open(Scope.Joiner.awaitAll())) {
      outer.go(
          () -> {
            try (Scope inner = Scope.open(Scope.Joiner.awaitAll())) {
              inner.go(outer::close);
              inner.join();
            }
          });
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(outer::join)
          .withStackTraceContaining("cannot close " + outer);
    }
  }

  @Test
  void aMisuseComesOutAlsoIfTheFiberIsCancelled() {
    try (Scope scope = Scope.open(Scope.Joiner.awaitAll())) {
      Fiber<Void> fiber =
          scope.go(
              () -> {
                try {
                  ScopeTest.forEver();
                } catch (InterruptedException e) {
                  e.addSuppressed(catchThrowable(scope::join));
                  throw e;
                }
              });
      Eventually.waits(fiber);
      fiber.cancel();
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .withStackTraceContaining("cannot join " + scope);
    }
  }

  @Test
  void aMisuseIsSuppressedInTheFailureThatComesOutInstead() {
    IOException failure = new IOException("planned");
    Scope.Joiner<String> failing =
        () -> {
          throw new CompletionException(failure);
        };
    try (Scope scope = Scope.open(failing)) {
      scope.go(scope::close);
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .withCause(failure)
          .satisfies(
              e -> assertThat(e.getSuppressed()[0]).hasMessageContaining("cannot close " + scope));
    }
  }

  @Test
  void afterAnInterruptedJoinAMisuseComesOutOfClose() {
    Scope scope = Scope.open(Scope.Joiner.awaitAll());
    Fiber<Void> mistaken = scope.go(scope::close);
    Fiber<Void> other = scope.go(() -> ScopeTest.forEver());
    eventually("the fiber has failed", () -> mistaken.status() == Fiber.Status.DONE);
    Thread.currentThread().interrupt();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(scope::join);
    assertThat(Thread.interrupted()).isTrue();
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(scope::close)
        .withStackTraceContaining("cannot close " + scope);
    assertThat(other.status()).isEqualTo(Fiber.Status.DONE);
  }

  @Test
  void aMisuseThatJoinHasThrownDoesNotComeOutOfClose() {
    Scope scope = Scope.open(Scope.Joiner.awaitAll());
    scope.go(scope::close);
    assertThatExceptionOfType(CompletionException.class).isThrownBy(scope::join);
    scope.close();
  }

  @Test
  void aMisuseThatTheFiberItselfHasHandledIsNoFailure() {
    try (Scope scope = Scope.open()) {
      scope.go(() -> assertThatIllegalStateException().isThrownBy(scope::close));
      scope.join();
    }
  }

  @Test
  void aMissingJoinIsAMisuseUnlessTheBlockHasThrown() {
    Body forgets =
        () -> {
          try (Scope inner = Scope.open()) {
            inner.go(() -> ScopeTest.forEver());
          }
        };
    Body throwsBefore =
        () -> {
          try (Scope inner = Scope.open()) {
            inner.go(() -> ScopeTest.forEver());
            throw new IOException("before the join");
          }
        };
    try (Scope scope = Scope.open(Scope.Joiner.awaitAll())) {
      scope.go(forgets);
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .withStackTraceContaining("because there was no join()");
    }
    try (Scope scope = Scope.open(Scope.Joiner.awaitAll())) {
      scope.go(throwsBefore);
      scope.join();
    }
  }

  @Test
  void closingInTheWrongOrderLosesNoFailure() {
    IOException failure = new IOException("in the inner scope");
    Scope outer = Scope.open();
    Scope inner = Scope.open();
    Fiber<Void> failed =
        inner.go(
            () -> {
              throw failure;
            });
    eventually("the fiber has failed", () -> failed.status() == Fiber.Status.DONE);
    assertThatIllegalStateException()
        .isThrownBy(outer::close)
        .withMessageContaining("scopes opened after it were still open; close them first")
        .satisfies(e -> assertThat(e.getSuppressed()[0]).hasCause(failure));
  }

  // ---- scopes left open ----

  private static final String LEFT_OPEN =
      " ended and left a scope open; its fibers were cancelled and awaited."
          + " Open scopes with try (Scope scope = Scope.open())";

  /** Opens a scope with a fiber that ends slowly, and leaves the scope open. */
  private static void leaveOpen(AtomicBoolean childEnded) throws InterruptedException {
    CountDownLatch started = new CountDownLatch(1);
    Scope scope = Scope.open();
    scope.go(
        () -> {
          try {
            started.countDown();
            ScopeTest.forEver();
          } finally {
            Weft.shielded(() -> Fiber.sleep(Duration.ofMillis(20)));
            childEnded.set(true);
          }
        });
    started.await();
  }

  @Test
  void aFiberThatLeavesAScopeOpenEndsAfterItsFibersAndFails() {
    AtomicBoolean childEnded = new AtomicBoolean();
    AtomicReference<Fiber<?>> opener = new AtomicReference<>();
    Weft.run(
        () -> {
          opener.set(Weft.go(() -> leaveOpen(childEnded)));
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(opener.get()::join)
              .withCauseInstanceOf(IllegalStateException.class)
              .satisfies(e -> assertThat(e.getCause()).hasMessage(opener.get() + LEFT_OPEN));
          assertThat(childEnded).isTrue();
        });
  }

  @Test
  void theFailureOfTheBodyComesOutAndTheOpenScopeIsSuppressed() {
    AtomicBoolean childEnded = new AtomicBoolean();
    IOException failure = new IOException("planned");
    Fiber<Void> opener =
        Weft.go(
            () -> {
              leaveOpen(childEnded);
              throw failure;
            });
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(opener::join)
        .withCause(failure);
    assertThat(failure.getSuppressed()[0]).hasMessage(opener + LEFT_OPEN);
    assertThat(childEnded).isTrue();
  }

  @Test
  void ifTheFailureOfTheBodyKeepsNothingSuppressedTheOpenScopeIsLogged() {
    AtomicBoolean childEnded = new AtomicBoolean();
    Exception failure = new KeepsNothing();
    try (LogCapture log = new LogCapture()) {
      Fiber<Void> opener =
          Weft.go(
              () -> {
                leaveOpen(childEnded);
                throw failure;
              });
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(opener::join)
          .withCause(failure);
      assertThat(log.entries(opener + LEFT_OPEN, "failed with " + failure)).hasSize(1);
    }
    assertThat(childEnded).isTrue();
  }

  /** A failure without stack trace and suppressed exceptions, as made for speed. */
  private static final class KeepsNothing extends Exception {
    private static final long serialVersionUID = 1;

    KeepsNothing() {
      super("planned", null, false, false);
    }
  }

  @Test
  void ifTheOpenerWasCancelledTheOpenScopeIsTheCause() {
    AtomicBoolean childEnded = new AtomicBoolean();
    AtomicBoolean left = new AtomicBoolean();
    Fiber<Void> opener =
        Weft.go(
            () -> {
              leaveOpen(childEnded);
              left.set(true);
              ScopeTest.forEver();
            });
    Eventually.eventually("the child has begun", left::get); // it is cancelled, and must not be new
    opener.cancel();
    assertThatExceptionOfType(CancellationException.class)
        .isThrownBy(opener::join)
        .withStackTraceContaining(LEFT_OPEN);
    assertThat(childEnded).isTrue();
  }

  @ParameterizedTest
  @MethodSource("joiners")
  void anOpenScopeComesOutOfTheOuterJoinWhateverTheJoiner(Supplier<Scope.Joiner<?>> joiner) {
    AtomicBoolean childEnded = new AtomicBoolean();
    try (Scope scope = Scope.open(joiner.get())) {
      scope.go(() -> leaveOpen(childEnded));
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(scope::join)
          .withStackTraceContaining(LEFT_OPEN);
    }
    assertThat(childEnded).isTrue();
  }

  @Test
  void severalOpenScopesAreClosedAndTheirFailuresAreKept() {
    IOException failure = new IOException("of a forgotten fiber");
    AtomicBoolean childEnded = new AtomicBoolean();
    Fiber<Void> opener =
        Weft.go(
            () -> {
              Scope first = Scope.open();
              Fiber<Void> failing =
                  first.go(
                      () -> {
                        throw failure;
                      });
              eventually("the fiber has failed", () -> failing.status() == Fiber.Status.DONE);
              leaveOpen(childEnded);
              Scope.open(Scope.Joiner.awaitAll(), Duration.ofHours(1));
            });
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(opener::join)
        .satisfies(e -> assertThat(e.getCause().getSuppressed()[0]).hasCause(failure));
    assertThat(childEnded).isTrue();
  }

  @Test
  void aScopeThatIsJoinedButNotClosedIsLeftOpenToo() {
    Fiber<Void> opener =
        Weft.go(
            () -> {
              Scope scope = Scope.open();
              scope.go(() -> {});
              scope.join();
            });
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(opener::join)
        .withStackTraceContaining(LEFT_OPEN);
  }

  @Test
  void anOpenScopeComesOutOfWeftRun() {
    AtomicBoolean childEnded = new AtomicBoolean();
    assertThatIllegalStateException()
        .isThrownBy(() -> Weft.run(() -> leaveOpen(childEnded)))
        .withMessageContaining(LEFT_OPEN);
    assertThat(childEnded).isTrue();
  }

  @Test
  void aTaskOfAPoolThatLeavesAScopeOpenIsReportedAndTheNextTaskRuns() throws Exception {
    ConcurrentLinkedQueue<Throwable> reported = new ConcurrentLinkedQueue<>();
    AtomicBoolean childEnded = new AtomicBoolean();
    try (Scheduler scheduler =
            Scheduler.builder()
                .threads(1)
                .onUncaught((fiber, failure) -> reported.add(failure))
                .build()
                .start();
        FiberPool pool = FiberPool.builder().scheduler(scheduler).fibers(1).build()) {
      pool.submit(
              () -> {
                leaveOpen(childEnded);
                return null;
              })
          .get();
      pool.submit(
              () -> {
                assertThat(childEnded).isTrue();
                try (Scope scope = Scope.open()) {
                  scope.go(() -> {});
                  scope.join();
                }
                return null;
              })
          .get();
    }
    assertThat(reported).singleElement().isInstanceOf(IllegalStateException.class);
    assertThat(reported.peek()).hasMessageMatching("a task of fiber .*left a scope open.*");
  }

  @Test
  void openScopesOfAGuestAreCancelledAndReported() throws Exception {
    ConcurrentLinkedQueue<Throwable> reported = new ConcurrentLinkedQueue<>();
    AtomicBoolean childEnded = new AtomicBoolean();
    AtomicReference<Throwable> failed = new AtomicReference<>();
    try (Scheduler scheduler =
        Scheduler.builder()
            .threads(1)
            .onUncaught((fiber, failure) -> reported.add(failure))
            .build()
            .start()) {
      scheduler
          .go(
              () -> {
                Thread guest =
                    Thread.ofVirtual()
                        .start(
                            () -> {
                              try {
                                leaveOpen(childEnded);
                              } catch (InterruptedException e) {
                                failed.set(e);
                              }
                            });
                guest.join();
              })
          .join();
      eventually("the scope's fiber has ended", childEnded::get);
    }
    assertThat(failed).hasNullValue();
    assertThat(reported).singleElement().isInstanceOf(IllegalStateException.class);
    assertThat(reported.peek()).hasMessageContaining("ended and left a scope open");
  }
}
