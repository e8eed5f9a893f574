package dev.weft;

import static dev.weft.Eventually.waits;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Time limits, in fibers and on plain threads. */
@Feature("S16")
class WithTimeoutTest {
  private static final Duration LONG = Duration.ofHours(1);

  /** The kind of thread that runs a body. */
  enum Place {
    FIBER {
      @Override
      void run(Body body) throws Exception {
        try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
          scheduler.go(body).join();
        }
      }
    },
    PLATFORM_THREAD {
      @Override
      void run(Body body) throws Exception {
        runOn(Thread.ofPlatform(), body);
      }
    },
    VIRTUAL_THREAD {
      @Override
      void run(Body body) throws Exception {
        runOn(Thread.ofVirtual(), body);
      }
    };

    abstract void run(Body body) throws Exception;

    private static void runOn(Thread.Builder builder, Body body) throws Exception {
      FutureTask<Void> task =
          new FutureTask<>(
              () -> {
                body.run();
                return null;
              });
      builder.start(task);
      task.get();
    }
  }

  private static Duration ms(int millis) {
    return Duration.ofMillis(millis);
  }

  @ParameterizedTest
  @EnumSource
  void aBodyWithinItsLimitReturnsItsResult(Place place) throws Exception {
    place.run(
        () -> {
          assertThat(Weft.<String>withTimeout(LONG, () -> "done")).isEqualTo("done");
          assertThat(Weft.<String>withTimeout(LONG, () -> sleepAnd(ms(1), "slept")))
              .isEqualTo("slept");
          Thread.sleep(1); // would fail if an interrupt were left over
        });
  }

  private static String sleepAnd(Duration duration, String result) throws InterruptedException {
    Fiber.sleep(duration);
    return result;
  }

  static Stream<Arguments> blockedCalls() {
    return Stream.of(Place.values())
        .flatMap(
            place ->
                Stream.of(
                    wait(place, "Fiber.sleep", () -> sleepAnd(LONG, "")),
                    wait(
                        place,
                        "Thread.sleep",
                        () -> {
                          Thread.sleep(LONG);
                          return null;
                        }),
                    wait(place, "take", () -> new LinkedBlockingQueue<Integer>().take()),
                    wait(
                        place,
                        "join",
                        () ->
                            Scheduler.shared()
                                .go(() -> Fiber.sleep(Duration.ofSeconds(5)))
                                .join())));
  }

  private static Arguments wait(Place place, String name, Callable<?> body) {
    return Arguments.of(place, name, body);
  }

  @ParameterizedTest(name = "{1} on {0}")
  @MethodSource("blockedCalls")
  void aWaitBeyondTheLimitFails(Place place, String name, Callable<?> body) throws Exception {
    place.run(
        () -> {
          long start = System.nanoTime();
          assertThatExceptionOfType(TimeoutException.class)
              .isThrownBy(() -> Weft.withTimeout(ms(20), body))
              .withMessage("not done within PT0.02S")
              .withCauseInstanceOf(InterruptedException.class);
          assertThat(System.nanoTime() - start)
              .isBetween(20_000_000L, Duration.ofSeconds(20).toNanos());
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
          Fiber.sleep(ms(1)); // after the limit sleeps work again
          Thread.sleep(1);
        });
  }

  @Test
  void suspendAndYieldFailToo() throws Exception {
    Place.FIBER.run(
        () -> {
          assertThatExceptionOfType(TimeoutException.class)
              .isThrownBy(
                  () ->
                      Weft.withTimeout(
                          ms(10),
                          () -> {
                            Fiber.suspend();
                            return null;
                          }))
              .withCauseInstanceOf(CancellationException.class);
          assertThatExceptionOfType(TimeoutException.class)
              .isThrownBy(
                  () ->
                      Weft.withTimeout(
                          ms(10),
                          () -> {
                            while (true) {
                              Fiber.yield();
                            }
                          }));
          Fiber.yield();
        });
  }

  @ParameterizedTest
  @EnumSource
  void theNearestLimitWins(Place place) throws Exception {
    place.run(
        () -> {
          // the inner deadline is nearer: only it fails
          String result =
              Weft.withTimeout(
                  LONG,
                  () -> {
                    assertThatExceptionOfType(TimeoutException.class)
                        .isThrownBy(() -> Weft.withTimeout(ms(10), () -> sleepAnd(LONG, "")))
                        .withMessageContaining("PT0.01S");
                    return sleepAnd(ms(1), "outer goes on");
                  });
          assertThat(result).isEqualTo("outer goes on");
          // the outer deadline is nearer: the inner body is interrupted, but not timed out
          assertThatExceptionOfType(TimeoutException.class)
              .isThrownBy(
                  () ->
                      Weft.withTimeout(
                          ms(10), () -> Weft.withTimeout(LONG, () -> sleepAnd(LONG, ""))))
              .withMessage("not done within PT0.01S")
              .withCauseInstanceOf(CancellationException.class);
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
  }

  @ParameterizedTest
  @EnumSource
  void whenBothLimitsHavePassedBothTimeOut(Place place) throws Exception {
    place.run(
        () -> {
          AtomicInteger inner = new AtomicInteger();
          long start = System.nanoTime();
          assertThatExceptionOfType(TimeoutException.class)
              .isThrownBy(
                  () ->
                      Weft.withTimeout(
                          ms(150),
                          () -> {
                            try {
                              Weft.withTimeout(
                                  ms(120),
                                  () -> {
                                    Busy.compute(ms(400)); // until both limits have passed
                                    return sleepAnd(LONG, "");
                                  });
                            } catch (TimeoutException e) {
                              inner.incrementAndGet();
                            }
                            Thread.sleep(LONG); // the outer limit still holds
                            return null;
                          }))
              .withMessage("not done within PT0.15S");
          assertThat(inner).hasValue(1);
          assertThat(System.nanoTime() - start).isLessThan(Duration.ofSeconds(20).toNanos());
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
  }

  @ParameterizedTest
  @EnumSource
  void aBodyThatFinishesAtTheLimitHasAResultOrNoneAndNoInterrupt(Place place) throws Exception {
    place.run(
        () -> {
          int late = 0;
          for (int i = 0; i < 200; i++) {
            int nanos = 130_000 + 3_000 * (i % 100);
            try {
              String result =
                  Weft.withTimeout(
                      Duration.ofNanos(200_000),
                      () -> {
                        Thread.sleep(Duration.ofNanos(nanos));
                        return "in time";
                      });
              assertThat(result).isEqualTo("in time");
            } catch (TimeoutException e) {
              late++;
            }
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            Fiber.sleep(Duration.ZERO);
          }
          assertThat(late).isBetween(0, 200);
        });
  }

  @Test
  void aBodyThatEndsNormallyAfterItsLimitDoesNotFail() throws Exception {
    Place.FIBER.run(
        () -> {
          String result =
              Weft.withTimeout(
                  ms(1),
                  () -> {
                    try {
                      Fiber.sleep(LONG);
                    } catch (InterruptedException e) {
                      return "gave what it had";
                    }
                    return "never";
                  });
          assertThat(result).isEqualTo("gave what it had");
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
  }

  @ParameterizedTest
  @EnumSource
  void theExceptionOfTheBodyComesOut(Place place) throws Exception {
    place.run(
        () -> {
          assertThatIllegalStateException()
              .isThrownBy(
                  () ->
                      Weft.withTimeout(
                          LONG,
                          () -> {
                            throw new IllegalStateException("unchecked");
                          }))
              .withMessage("unchecked");
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(
                  () ->
                      Weft.withTimeout(
                          LONG,
                          () -> {
                            throw new IOException("checked");
                          }))
              .withCauseInstanceOf(IOException.class);
          assertThatExceptionOfType(AssertionError.class)
              .isThrownBy(
                  () ->
                      Weft.withTimeout(
                          LONG,
                          () -> {
                            throw new AssertionError("error");
                          }));
        });
  }

  @ParameterizedTest
  @EnumSource
  void theBodysOwnTimeoutExceptionComesOutUnchanged(Place place) throws Exception {
    place.run(
        () -> {
          TimeoutException own = new TimeoutException("the body's own");
          Callable<String> failing =
              () -> {
                throw own;
              };
          assertThatExceptionOfType(TimeoutException.class)
              .isThrownBy(() -> Weft.withTimeout(LONG, failing))
              .isSameAs(own);
          assertThatExceptionOfType(TimeoutException.class)
              .isThrownBy(
                  () -> Weft.withTimeout(LONG, () -> Weft.withTimeout(ms(5), () -> sleep(LONG))))
              .withMessage("not done within PT0.005S")
              .withCauseInstanceOf(InterruptedException.class);
          assertThatExceptionOfType(TimeoutException.class)
              .as("after the time it is the cause of withTimeout's")
              .isThrownBy(
                  () -> Weft.withTimeout(ms(1), () -> lateWithoutAWait("") + failing.call()))
              .withMessage("not done within PT0.001S")
              .withCause(own);
        });
  }

  /** Compiles: each usual form of a body finds its overload. */
  @ParameterizedTest
  @EnumSource
  void aBodyIsALambdaOfAnyForm(Place place) throws Exception {
    place.run(
        () -> {
          AtomicInteger ran = new AtomicInteger();
          String expression = Weft.withTimeout(LONG, () -> "a" + ran.incrementAndGet());
          String block =
              Weft.withTimeout(
                  LONG,
                  () -> {
                    Fiber.sleep(ms(1));
                    return "b" + ran.incrementAndGet();
                  });
          int reference = Weft.withTimeout(LONG, ran::incrementAndGet);
          assertThat(expression + block + reference).isEqualTo("a1b23");
          Weft.withTimeout(LONG, () -> ran.set(10));
          Weft.withTimeout(LONG, () -> Fiber.sleep(ms(1)));
          Weft.withTimeout(LONG, () -> ran.incrementAndGet());
          Weft.withTimeout(
              LONG,
              () -> {
                Thread.sleep(1);
                ran.incrementAndGet();
              });
          assertThat(ran).hasValue(12);
          assertThatExceptionOfType(TimeoutException.class)
              .isThrownBy(() -> Weft.withTimeout(ms(1), () -> sleep(LONG)))
              .withMessage("not done within PT0.001S");
        });
  }

  private static void sleep(Duration duration) throws InterruptedException {
    Fiber.sleep(duration);
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptFromElsewhereIsNoTimeout(Place place) throws Exception {
    place.run(
        () -> {
          assertThatExceptionOfType(CancellationException.class)
              .isThrownBy(
                  () ->
                      Weft.withTimeout(
                          LONG,
                          () -> {
                            Thread.currentThread().interrupt();
                            Thread.sleep(LONG);
                            return null;
                          }))
              .withCauseInstanceOf(InterruptedException.class);
          assertThat(Thread.interrupted()).isTrue();
        });
  }

  @Test
  @Feature("S15")
  void aCancelInsideIsNoTimeoutAndStaysSet() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      AtomicInteger stages = new AtomicInteger();
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                try {
                  Weft.withTimeout(LONG, () -> sleepAnd(LONG, ""));
                } catch (CancellationException e) {
                  stages.incrementAndGet();
                }
                try {
                  Fiber.sleep(LONG);
                } catch (InterruptedException e) {
                  stages.incrementAndGet();
                }
              });
      waits(fiber);
      fiber.cancel();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join);
      assertThat(stages).hasValue(2);
    }
  }

  @Test
  @Feature({"S7", "S16"})
  void aLimitMovesWithItsFiber() throws Exception {
    Scheduler from = Scheduler.builder().threads(1).build().start();
    try (Scheduler to = Scheduler.builder().threads(1).build().start()) {
      Fiber<String> fiber =
          from.go(
              () -> {
                try {
                  return Weft.withTimeout(
                      ms(200),
                      () -> {
                        Fiber.switchTo(to);
                        Fiber.suspend();
                        return "never";
                      });
                } catch (TimeoutException e) {
                  return e.getMessage();
                }
              });
      from.stop(); // does not end the timer
      assertThat(fiber.join(Duration.ofSeconds(15))).isEqualTo("not done within PT0.2S");
    }
  }

  @Test
  void aZeroLimitFailsTheFirstWait() throws Exception {
    Place.FIBER.run(
        () -> {
          for (Duration none : new Duration[] {Duration.ZERO, ms(-5)}) {
            assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(() -> Weft.withTimeout(none, () -> sleepAnd(LONG, "")));
          }
        });
  }

  @Test
  void nullIsRefused() {
    assertThatNullPointerException()
        .isThrownBy(() -> Weft.withTimeout(LONG, (Callable<String>) null))
        .withMessage("body");
    assertThatNullPointerException()
        .isThrownBy(() -> Weft.withTimeout(LONG, (Body) null))
        .withMessage("body");
    assertThatNullPointerException().isThrownBy(() -> Weft.withTimeout(null, () -> 1));
  }

  @ParameterizedTest
  @EnumSource
  void limitsOfCoroutinesThatTakeTurnsEndInAnyOrder(Place place) throws Exception {
    place.run(
        () -> {
          Coroutine a = Coroutine.of(WithTimeoutTest::yieldInALimit);
          Coroutine b = Coroutine.of(WithTimeoutTest::yieldInALimit);
          for (Coroutine each : List.of(a, b, a, b)) {
            each.resume();
          }
          assertThat(b.state()).isEqualTo(Coroutine.State.TERMINATED);
          assertThatExceptionOfType(TimeoutException.class)
              .isThrownBy(() -> Weft.withTimeout(ms(1), () -> sleepAnd(LONG, "")));
          assertThat(Thread.interrupted()).isFalse();
          assertThat(Fiber.current().filter(self -> core(self).hasDeadline())).isEmpty();
        });
  }

  @ParameterizedTest
  @EnumSource
  void theLimitOfASuspendedGeneratorDoesNotApplyToItsConsumer(Place place) throws Exception {
    place.run(
        () -> {
          Generator<String> generator = Generator.of(out -> limited(out, () -> Thread.sleep(LONG)));
          assertThat(generator.next()).isEqualTo("within");
          Thread.sleep(20); // the limit has passed by then
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
          assertThat(generator.next()).isEqualTo("over");
          Thread.sleep(1);
          assertThat(generator.hasNext()).isFalse();
        });
  }

  @ParameterizedTest
  @EnumSource
  void norDoesALimitThatPassedBeforeTheFirstElement(Place place) throws Exception {
    place.run(
        () -> {
          Generator<String> generator =
              Generator.of(
                  out ->
                      limited(
                          out,
                          () -> {
                            while (!Thread.currentThread().isInterrupted()) {
                              Thread.onSpinWait();
                            }
                            out.emit("late");
                            Thread.sleep(LONG);
                          }));
          assertThat(generator.next()).isEqualTo("within");
          assertThat(generator.next()).isEqualTo("late");
          Thread.sleep(1);
          assertThat(generator.next()).isEqualTo("over");
          assertThat(generator.hasNext()).isFalse();
        });
  }

  /** Emits an element inside two limits, then runs the rest; and emits another when that fails. */
  private static void limited(Generator.Emitter<String> out, Body rest) throws TimeoutException {
    Weft.withTimeout(
        LONG,
        () -> {
          try {
            return Weft.withTimeout(
                ms(2),
                () -> {
                  out.emit("within");
                  rest.run();
                  return null;
                });
          } catch (TimeoutException e) {
            out.emit("over");
            return null;
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void theLimitAroundAConsumerHoldsInItsGeneratorToo(Place place) throws Exception {
    place.run(
        () -> {
          Generator<String> generator =
              Generator.of(
                  out ->
                      Weft.withTimeout(
                          LONG,
                          () -> {
                            out.emit("first");
                            Thread.sleep(LONG);
                            return null;
                          }));
          assertThat(generator.next()).isEqualTo("first");
          assertThatExceptionOfType(TimeoutException.class)
              .isThrownBy(() -> Weft.withTimeout(ms(2), generator::next));
          Thread.sleep(1);
        });
  }

  private static void yieldInALimit() throws TimeoutException {
    Weft.withTimeout(
        LONG,
        () -> {
          Coroutine.yield();
          return "done";
        });
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptFromElsewhereThatTheBodyDidNotNoticeIsKept(Place place) throws Exception {
    place.run(
        () -> {
          Thread me = Thread.currentThread();
          me.interrupt();
          assertThat(Weft.<String>withTimeout(ms(1), () -> lateWithoutAWait("late")))
              .isEqualTo("late");
          assertThat(Thread.interrupted()).isTrue();

          me.interrupt();
          String noticed =
              Weft.withTimeout(ms(1), () -> lateWithoutAWait("noticed ") + Thread.interrupted());
          assertThat(noticed).isEqualTo("noticed true");
          assertThat(Thread.interrupted()).isFalse();

          String both =
              Weft.withTimeout(
                  ms(4), () -> Weft.<String>withTimeout(ms(1), () -> lateWithoutAWait("both")));
          assertThat(both).isEqualTo("both");
          assertThat(Thread.interrupted()).as("none is left over").isFalse();
        });
  }

  /** Runs until limits of some milliseconds have passed; ignores interrupts. */
  private static String lateWithoutAWait(String result) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < 20_000_000L) {
      Thread.yield();
    }
    return result;
  }
}
