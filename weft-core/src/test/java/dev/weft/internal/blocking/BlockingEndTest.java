package dev.weft.internal.blocking;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Fiber;
import dev.weft.FiberDump;
import dev.weft.FiberOptions;
import dev.weft.LogCapture;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.internal.watch.DeadlockReport;
import dev.weft.testkit.Feature;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Blocking calls that end early: by cancel, deadline, interrupt, and the stop of the scheduler. */
@Feature("H7")
class BlockingEndTest {
  private final CountDownLatch release = new CountDownLatch(1);
  private final AtomicReference<Throwable> thrown = new AtomicReference<>();
  private final AtomicBoolean ran = new AtomicBoolean();

  private static Scheduler start() {
    return Scheduler.builder().threads(1).build().start();
  }

  private Fiber<Void> inBlocking(Scheduler scheduler, Helpers helpers, Callable<?> body) {
    return scheduler.go(
        FiberOptions.named("caller"),
        () -> {
          try {
            BlockingCall.run(core(Fiber.current().orElseThrow()), helpers, true, body);
          } catch (Throwable e) {
            thrown.set(e);
            throw e;
          }
        });
  }

  private Fiber<Void> inBlocking(Scheduler scheduler, Callable<?> body) {
    return inBlocking(scheduler, Helpers.ofJvm(), body);
  }

  private static void isOnHelper(Fiber<?> fiber) {
    eventually(fiber + " is on a helper thread", core(fiber)::isOnHelper);
  }

  @Test
  @Feature("S15")
  void aCancelEndsAnInterruptibleBody() throws Exception {
    try (Scheduler scheduler = start()) {
      Fiber<Void> fiber =
          inBlocking(
              scheduler,
              () -> {
                release.await();
                return null;
              });
      isOnHelper(fiber);
      fiber.cancel();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join);
      assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
    }
  }

  @Test
  @Feature("S15")
  void aCancelClosesAnInterruptibleChannel() throws Exception {
    Pipe pipe = Pipe.open();
    try (Scheduler scheduler = start()) {
      Fiber<Void> fiber = inBlocking(scheduler, () -> pipe.source().read(ByteBuffer.allocate(1)));
      eventually(
          "it reads",
          () ->
              core(fiber).isOnHelper()
                  && Arrays.toString(fiber.thread().getStackTrace())
                      .contains("SourceChannelImpl.read"));
      fiber.cancel();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join);
      assertThat(thrown.get()).isInstanceOf(ClosedByInterruptException.class);
    } finally {
      pipe.sink().close();
    }
  }

  @Test
  @Feature("S15")
  void aCancelledFiberDoesNotEvenBegin() throws Exception {
    try (Scheduler scheduler = start()) {
      CountDownLatch begun = new CountDownLatch(1);
      AtomicBoolean cancelled = new AtomicBoolean();
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                begun.countDown();
                while (!cancelled.get()) {
                  Thread.onSpinWait();
                }
                for (int i = 0; i < 2; i++) { // a cancel is a level: each wait fails
                  assertThatThrownBy(() -> Weft.blocking(() -> ran.compareAndSet(false, true)))
                      .isInstanceOf(InterruptedException.class)
                      .hasMessageContaining("is cancelled");
                }
              });
      begun.await();
      fiber.cancel();
      cancelled.set(true);
      assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join).withNoCause();
      assertThat(ran).isFalse();
    }
  }

  @Test
  void aDeadlineEndsABlockingCall() throws Exception {
    try (Scheduler scheduler = start()) {
      scheduler
          .go(
              () -> {
                assertThatExceptionOfType(TimeoutException.class)
                    .isThrownBy(
                        () ->
                            Weft.withTimeout(
                                Duration.ofMillis(5),
                                () ->
                                    Weft.blocking(
                                        () -> {
                                          release.await();
                                          return null;
                                        })))
                    .withCauseInstanceOf(InterruptedException.class);
                assertThat(Thread.currentThread().isInterrupted()).isFalse();
                assertThat(Weft.blocking(() -> "again")).isEqualTo("again");
              })
          .join();
    }
  }

  // ---- while it waits for a helper ----

  /** Keeps the only helper busy, with a second call that waits for it. */
  private Fiber<Void> waitsForHelper(Scheduler scheduler, Helpers one) {
    Fiber<Void> busy =
        inBlocking(
            scheduler,
            one,
            () -> {
              release.await();
              return null;
            });
    isOnHelper(busy);
    Fiber<Void> queued = inBlocking(scheduler, one, () -> ran.compareAndSet(false, true));
    waits(queued);
    return queued;
  }

  private static Helpers oneHelper() {
    return new Helpers(1, Duration.ofMinutes(1), Thread.ofPlatform().daemon().factory());
  }

  @Test
  @Feature("S15")
  void aCancelEndsTheWaitForAHelper() throws Exception {
    Helpers one = oneHelper();
    try (Scheduler scheduler = start()) {
      Fiber<Void> queued = waitsForHelper(scheduler, one);
      FiberDump.Entry entry = scheduler.dump().fibers().get(1);
      assertThat(entry.waitsFor()).isEqualTo("a helper thread");
      assertThat(entry.helper()).isEmpty();
      assertThat(scheduler.stats().awaitingHelper()).isEqualTo(1);
      assertThat(scheduler.stats().waiting()).isZero();
      assertThat(one.queued()).isEqualTo(1);
      queued.cancel();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(queued::join);
      assertThat(thrown.get())
          .isInstanceOf(InterruptedException.class)
          .hasMessageContaining("is cancelled");
      assertThat(one.queued()).isZero();
      release.countDown();
    }
    assertThat(ran).isFalse();
  }

  @Test
  void anInterruptEndsTheWaitForAHelper() throws Exception {
    Helpers one = oneHelper();
    try (Scheduler scheduler = start()) {
      Fiber<Void> queued = waitsForHelper(scheduler, one);
      core(queued).observe();
      queued.thread().interrupt();
      assertThatThrownBy(queued::join).hasCauseInstanceOf(InterruptedException.class);
      assertThat(one.queued()).isZero();
      release.countDown();
    }
    assertThat(ran).isFalse();
  }

  @Test
  void aDeadlineEndsTheWaitForAHelper() throws Exception {
    Helpers one = oneHelper();
    try (Scheduler scheduler = start()) {
      waitsForHelper(scheduler, one);
      scheduler
          .go(
              () ->
                  assertThatExceptionOfType(TimeoutException.class)
                      .isThrownBy(
                          () ->
                              Weft.withTimeout(
                                  Duration.ofMillis(5),
                                  () ->
                                      BlockingCall.run(
                                          core(Fiber.current().orElseThrow()),
                                          one,
                                          true,
                                          () -> 1))))
          .join();
      assertThat(one.queued()).isEqualTo(1);
      release.countDown();
    }
    assertThat(ran).isTrue();
  }

  @Test
  @Feature("S19")
  void aFiberThatWaitsForAHelperIsNoDeadlock() throws Exception {
    Helpers one = oneHelper();
    try (Scheduler other = start()) {
      isOnHelper(
          inBlocking(
              other,
              one,
              () -> {
                release.await();
                return null;
              }));
      Scheduler failing = Scheduler.builder().threads(1).failOnDeadlock(true).build().start();
      Fiber<Void> queued = inBlocking(failing, one, () -> ran.compareAndSet(false, true));
      waits(queued);
      Thread stopper = Thread.ofPlatform().start(failing::stop);
      eventually("its thread sleeps", () -> failing.stats().threads().getFirst().asleep());
      assertThat(DeadlockReport.ofStandstill(core(failing))).isNull();
      assertThat(queued.isDone()).isFalse();
      release.countDown();
      stopper.join();
      assertThat(ran).isTrue();
    }
  }

  // ---- the end of the scheduler ----

  @Test
  @Feature("S5")
  void stopWaitsForABlockingCall() throws Exception {
    Scheduler scheduler = start();
    Fiber<Void> fiber =
        inBlocking(
            scheduler,
            () -> {
              release.await();
              ran.set(true);
              return null;
            });
    isOnHelper(fiber);
    Thread stopper = Thread.ofPlatform().start(scheduler::stop);
    eventually("its thread sleeps", () -> scheduler.stats().threads().getFirst().asleep());
    release.countDown();
    stopper.join();
    assertThat(ran).isTrue();
    assertThat(fiber.isDone()).isTrue();
  }

  @Test
  @Feature("S5")
  void stopCancelsABlockingCallAtItsLimit() {
    Scheduler scheduler = start();
    try (LogCapture log = new LogCapture()) {
      isOnHelper(
          inBlocking(
              scheduler,
              () -> {
                release.await();
                return null;
              }));
      assertThat(scheduler.stop(Duration.ZERO)).isFalse();
      assertThat(log.entries("cancelled", "caller")).hasSize(1);
      assertThat(log.entries("without the end")).isEmpty();
    }
    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
  }

  @Test
  @Feature("S5")
  void aFiberThatIgnoresItsCancelIsGivenUpOnAndFibersBehindItNeverRun() throws Exception {
    Helpers one = oneHelper();
    AtomicBoolean over = new AtomicBoolean();
    AtomicBoolean goneOn = new AtomicBoolean();
    Scheduler scheduler = start();
    Fiber<Void> stubborn =
        scheduler.go(
            FiberOptions.named("stubborn"),
            () -> {
              BlockingCall.run(
                  core(Fiber.current().orElseThrow()),
                  one,
                  true,
                  () -> {
                    while (!over.get()) {
                      Thread.onSpinWait();
                    }
                    return null;
                  });
              goneOn.set(true);
            });
    isOnHelper(stubborn);
    // does not check for interrupts while it waits for the helper
    Fiber<Boolean> queued =
        scheduler.go(
            () ->
                BlockingCall.run(
                    core(Fiber.current().orElseThrow()),
                    one,
                    false,
                    () -> ran.compareAndSet(false, true)));
    waits(queued);
    try (LogCapture log = new LogCapture()) {
      assertThat(scheduler.stop(Duration.ZERO)).isFalse();
      assertThat(log.entries("without the end", "stubborn")).hasSize(1);
    }
    assertThatExceptionOfType(CancellationException.class).isThrownBy(stubborn::join);
    over.set(true);
    // the helper is free again
    try (Scheduler next = start()) {
      Fiber<Void> later = inBlocking(next, one, () -> null);
      later.join();
    }
    assertThat(ran).isFalse();
    assertThat(goneOn).isFalse();
  }
}
