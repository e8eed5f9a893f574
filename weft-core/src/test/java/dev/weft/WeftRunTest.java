package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The entry points: run and call. */
@Feature("S10")
class WeftRunTest {
  @Test
  void runReturnsWhenNoFiberIsLeft() {
    AtomicInteger ended = new AtomicInteger();
    Weft.run(
        () -> {
          assertThat(Fiber.current().orElseThrow().name()).isEqualTo("main");
          for (int i = 0; i < 10; i++) {
            Weft.go(
                () -> {
                  Fiber.sleep(Duration.ofMillis(20));
                  Weft.go(
                      () -> {
                        Fiber.sleep(Duration.ofMillis(20));
                        ended.incrementAndGet();
                      });
                });
          }
        });
    assertThat(ended).hasValue(10);
    assertThat(Fiber.current()).isEmpty();
  }

  @Test
  void callReturnsTheResult() {
    assertThat(Weft.<String>call(() -> Weft.go(() -> "deep").join())).isEqualTo("deep");
  }

  @Test
  void runWorksInsideAFiberToo() {
    AtomicInteger ended = new AtomicInteger();
    Weft.run(
        () -> {
          Scheduler outer = Scheduler.current().orElseThrow();
          Weft.run(
              () -> {
                assertThat(Scheduler.current().orElseThrow()).isNotSameAs(outer);
                Weft.go(ended::incrementAndGet);
              });
          assertThat(ended).hasValue(1);
        });
  }

  @Test
  void fibersOfRunInsideACoroutineAreOutsideIt() {
    AtomicInteger refused = new AtomicInteger();
    Coroutine coroutine =
        Coroutine.of(
            () ->
                Weft.run(
                    () -> {
                      Fiber.switchTo(0); // the caller's thread, if it takes part
                      assertThat(Coroutine.current()).isEmpty();
                      assertThatThrownBy(Coroutine::yield).hasMessageContaining("outside");
                      refused.incrementAndGet();
                    }));
    coroutine.resume();
    assertThat(refused).hasValue(1);
    assertThat(coroutine.state()).isEqualTo(Coroutine.State.TERMINATED);
  }

  @Test
  void aCallerThatHoldsAMonitorIsRefusedBeforeAnythingRuns() {
    AtomicInteger runs = new AtomicInteger();
    synchronized (this) {
      assertThatIllegalStateException()
          .isThrownBy(() -> Weft.run(runs::incrementAndGet))
          .withMessageContaining("cannot run fibers")
          .withMessageContaining("monitor of a " + WeftRunTest.class.getName());
    }
    assertThat(runs).hasValue(0);
  }

  @Test
  void theFailureOfTheBodyComesOutAndIsNotReportedToo() {
    try (LogCapture log = new LogCapture()) {
      IllegalStateException unchecked = new IllegalStateException("unchecked");
      assertThatThrownBy(
              () ->
                  Weft.run(
                      () -> {
                        throw unchecked;
                      }))
          .isSameAs(unchecked);
      AssertionError error = new AssertionError("error");
      assertThatThrownBy(
              () ->
                  Weft.run(
                      () -> {
                        throw error;
                      }))
          .isSameAs(error);
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(
              () ->
                  Weft.call(
                      () -> {
                        throw new IOException("checked");
                      }))
          .withCauseInstanceOf(IOException.class);
      assertThat(log.entries()).isEmpty();
    }
  }

  @Test
  void theBodyMayFailBeforeTheOtherFibersHaveEnded() {
    AtomicInteger ended = new AtomicInteger();
    assertThatThrownBy(
            () ->
                Weft.run(
                    () -> {
                      Weft.go(
                          () -> {
                            Fiber.sleep(Duration.ofMillis(30));
                            ended.incrementAndGet();
                          });
                      throw new IllegalArgumentException("early");
                    }))
        .hasMessage("early");
    assertThat(ended).hasValue(1);
  }

  @Test
  void outsideFibersGoUsesTheSharedScheduler() throws Exception {
    Fiber<Scheduler> fiber = Weft.go(() -> Scheduler.current().orElseThrow());
    assertThat(fiber.join()).isSameAs(Scheduler.shared());
    assertThat(Scheduler.shared().name()).isEqualTo("weft-shared");
  }

  @Test
  void nullIsRefused() {
    assertThatNullPointerException().isThrownBy(() -> Weft.run(null)).withMessage("main");
    assertThatNullPointerException().isThrownBy(() -> Weft.call(null)).withMessage("main");
    assertThatNullPointerException().isThrownBy(() -> Weft.go((Body) null)).withMessage("body");
  }
}
