package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.weft.internal.Uninterrupted;
import dev.weft.testkit.Feature;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which thread may stop a scheduler, and what happens before it has stopped. */
class SchedulerStopTest {
  private static Scheduler start(int threads) {
    return Scheduler.builder().threads(threads).build().start();
  }

  private static void onAnotherThread(Body body) throws Exception {
    FutureTask<Void> task =
        new FutureTask<>(
            () -> {
              body.run();
              return null;
            });
    Thread.ofPlatform().start(task);
    task.get();
  }

  // ---- the calling thread ----

  @Test
  @Feature("S4")
  void withUseCallerOnlyTheStartingThreadMayStopTheScheduler() throws Exception {
    Scheduler scheduler = Scheduler.builder().threads(2).useCaller(true).build().start();
    String caller = Thread.currentThread().toString();
    onAnotherThread(
        () ->
            assertThatIllegalStateException()
                .isThrownBy(scheduler::stop)
                .withMessageContaining("cannot stop " + scheduler)
                .withMessageContaining("only " + caller));
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              assertThatIllegalStateException().isThrownBy(scheduler::stop);
            });
    scheduler.stop();
    fiber.join();
  }

  @Test
  @Feature("S4")
  void aSchedulersOwnFibersMayNotStopIt() throws Exception {
    try (Scheduler scheduler = start(2)) {
      Fiber<Void> fiber =
          scheduler.go(
              FiberOptions.named("suicidal"),
              () -> {
                assertThatIllegalStateException()
                    .isThrownBy(scheduler::stop)
                    .withMessageContaining("cannot stop " + scheduler)
                    .withMessageContaining("suicidal");
                assertThatIllegalStateException()
                    .isThrownBy(() -> scheduler.stop(Duration.ofMillis(1)));
                FutureTask<Void> guest =
                    new FutureTask<>(
                        () -> {
                          assertThatIllegalStateException().isThrownBy(scheduler::close);
                          return null;
                        });
                Thread.ofVirtual().start(guest);
                guest.get();
              });
      fiber.join();
      assertThat(scheduler.go(() -> "it still runs").join()).isEqualTo("it still runs");
    }
  }

  @Test
  @Feature("S4")
  void aFiberOfAnotherSchedulerMayStopAScheduler() throws Exception {
    try (Scheduler other = start(1)) {
      Scheduler scheduler = start(1);
      AtomicBoolean ran = new AtomicBoolean();
      scheduler.go(
          () -> {
            Fiber.sleep(Duration.ofMillis(20));
            ran.set(true);
          });
      other.go(() -> scheduler.stop()).join();
      assertThat(ran).isTrue();
    }
  }

  @Test
  @Feature("S4")
  void stoppingTwiceIsHarmless() throws Exception {
    Scheduler scheduler = start(2);
    scheduler.go(() -> Fiber.sleep(Duration.ofMillis(20)));
    List<Thread> stoppers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      stoppers.add(Thread.ofPlatform().start(scheduler::stop));
    }
    scheduler.stop();
    scheduler.stop();
    assertThat(scheduler.stop(Duration.ofSeconds(1))).isTrue();
    scheduler.close();
    for (Thread stopper : stoppers) {
      stopper.join();
    }

    Scheduler withCaller = Scheduler.builder().threads(1).useCaller(true).build().start();
    withCaller.stop();
    withCaller.stop();
  }

  @Test
  @Feature("S4")
  void aSchedulerStartsOnce() {
    Scheduler scheduler = start(1);
    assertThatIllegalStateException()
        .isThrownBy(scheduler::start)
        .withMessageContaining("cannot start " + scheduler)
        .withMessageContaining("it is running");
    scheduler.stop();
    assertThatIllegalStateException()
        .isThrownBy(scheduler::start)
        .withMessageContaining("cannot start " + scheduler)
        .withMessageContaining("it has been stopped; build a new one");
  }

  @Test
  @Feature("S4")
  void ifAFiberIsTheCallerOnlyThatFiberMayStop() throws Exception {
    try (Scheduler scheduler = start(1)) {
      Scheduler inner = Scheduler.builder().threads(1).useCaller(true).build();
      AtomicBoolean ran = new AtomicBoolean();
      Fiber<Void> caller =
          scheduler.go(
              () -> {
                inner.start();
                inner.go(() -> ran.set(true));
                Fiber.suspend();
                inner.stop();
                assertThat(ran).isTrue();
                inner.stop();
              });
      while (caller.status() != Fiber.Status.WAITING) {
        Thread.onSpinWait();
      }
      assertThatIllegalStateException()
          .isThrownBy(inner::stop)
          .withMessageContaining("only " + caller.thread().toString().split("/", 2)[0]);
      assertThat(ran).isFalse();
      scheduler.schedule(caller);
      caller.join();
    }
  }

  @Test
  @Feature("S4")
  void aCallerThatHoldsAMonitorIsRefused() {
    Scheduler scheduler = Scheduler.builder().threads(1).useCaller(true).build().start();
    Object monitor = new Object();
    synchronized (monitor) {
      assertThatIllegalStateException()
          .isThrownBy(scheduler::stop)
          .withMessageContaining("monitor of a java.lang.Object")
          .withMessageContaining("aCallerThatHoldsAMonitorIsRefused");
    }
    scheduler.stop();
  }

  @Test
  @Feature("S4")
  void aCallerInACoroutineIsRefused() {
    Scheduler scheduler = Scheduler.builder().threads(1).useCaller(true).build().start();
    Coroutine coroutine =
        Coroutine.of(
            () ->
                assertThatIllegalStateException()
                    .isThrownBy(scheduler::stop)
                    .withMessageContaining("cannot stop " + scheduler)
                    .withMessageContaining("inside coroutine "));
    coroutine.resume();
    scheduler.stop();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Feature("S4")
  void aHandlerOnOneOfItsThreadsIsRefused(boolean useCaller) {
    AtomicReference<Scheduler> its = new AtomicReference<>();
    AtomicReference<Throwable> refusal = new AtomicReference<>();
    Scheduler scheduler =
        Scheduler.builder()
            .threads(1)
            .useCaller(useCaller)
            .onUncaught(
                (_, _) -> {
                  try {
                    its.get().stop();
                  } catch (IllegalStateException e) {
                    refusal.set(e);
                  }
                })
            .build()
            .start();
    its.set(scheduler);
    try (LogCapture _ = new LogCapture()) {
      scheduler.go(
          (Body)
              () -> {
                throw new IllegalArgumentException("unobserved");
              });
      scheduler.stop();
    }
    assertThat(refusal.get())
        .hasMessageContaining("cannot stop " + scheduler)
        .hasMessageContaining("would wait for itself");
  }

  @Test
  @Feature("S4")
  void theSharedSchedulerCannotBeStopped() throws Exception {
    assertThatIllegalStateException()
        .isThrownBy(Scheduler.shared()::stop)
        .withMessageContaining("build one of your own");
    assertThatIllegalStateException()
        .isThrownBy(() -> Scheduler.shared().stop(Duration.ofMillis(1)));
    assertThat(Scheduler.shared().go(() -> 1).join()).isEqualTo(1);
  }

  // ---- what is done first ----

  @Test
  @Feature("S5")
  void stopRunsQueuedFibersFirst() {
    AtomicInteger runs = new AtomicInteger();
    Scheduler scheduler = start(2);
    for (int i = 0; i < 1_000; i++) {
      scheduler.go(
          () -> {
            scheduler.go(runs::incrementAndGet);
            Fiber.yield();
            runs.incrementAndGet();
          });
    }
    scheduler.stop();
    assertThat(runs).hasValue(2_000);
    assertThat(scheduler.stats().begun()).isEqualTo(2_000);
    assertThat(scheduler.stats().ended()).isEqualTo(2_000);
  }

  @Test
  @Feature("S5")
  void stopWaitsForFibersThatSleepOrWaitForATimerOrIo() throws Exception {
    Pipe pipe = Pipe.open();
    List<String> ended = Collections.synchronizedList(new ArrayList<>());
    Scheduler scheduler = start(1);
    scheduler.go(
        () -> {
          Fiber.sleep(Duration.ofMillis(60));
          ended.add("sleep");
        });
    scheduler.go(
        () -> {
          Thread.sleep(60);
          ended.add("Thread.sleep");
        });
    scheduler.timers().after(Duration.ofMillis(60), () -> ended.add("timer"));
    Fiber<Void> reader =
        scheduler.go(
            () -> {
              ByteBuffer buffer = ByteBuffer.allocate(1);
              assertThat(pipe.source().read(buffer)).isEqualTo(1);
              ended.add("read " + buffer.get(0));
            });
    Thread writer =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    waits(reader);
                    eventually("all other fibers have ended", () -> ended.size() == 3);
                    pipe.sink().write(ByteBuffer.wrap(new byte[] {7}));
                  } catch (Exception e) {
                    throw new AssertionError(e);
                  }
                });
    scheduler.stop();
    writer.join();
    pipe.source().close();
    pipe.sink().close();
    assertThat(ended).hasSize(4).endsWith("read 7");
    assertThat(scheduler.timers().pending()).isZero();
  }

  @Test
  @Feature("S5")
  void aRecurringTimerEndsWithTheLastFiber() {
    for (boolean useCaller : new boolean[] {false, true}) {
      for (int round = 0; round < 100; round++) {
        Scheduler scheduler = Scheduler.builder().threads(2).useCaller(useCaller).build().start();
        AtomicInteger ticks = new AtomicInteger();
        for (int i = 0; i < 8; i++) {
          scheduler.timers().every(Duration.ofNanos(1), ticks::incrementAndGet);
        }
        scheduler.go(() -> Fiber.sleep(Duration.ofMillis(1)));
        scheduler.stop(); // must neither hang nor throw because of a late tick
        int atStop = ticks.get();
        assertThat(scheduler.stats().begun()).isEqualTo(scheduler.stats().ended());
        assertThat(ticks).hasValue(atStop);
      }
    }
  }

  @Test
  @Feature("S5")
  void fibersSubmittedDuringStopAreRejectedOrRun() throws Exception {
    for (int round = 0; round < 300; round++) {
      Scheduler scheduler = start(1 + round % 3);
      AtomicInteger accepted = new AtomicInteger();
      AtomicInteger ran = new AtomicInteger();
      AtomicBoolean rejected = new AtomicBoolean();
      CountDownLatch first = new CountDownLatch(1);
      Thread submitter =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      while (true) {
                        scheduler.go(ran::incrementAndGet);
                        accepted.incrementAndGet();
                        first.countDown();
                        LockSupport.parkNanos(1); // a gap that stop() might take for the end
                      }
                    } catch (RejectedExecutionException e) {
                      rejected.set(e.getMessage().contains(scheduler + " has been stopped"));
                    }
                  });
      first.await();
      scheduler.stop();
      submitter.join();
      assertThat(ran).hasValue(accepted.get());
      assertThat(rejected).isTrue();
      assertThat(scheduler.stats().begun()).isEqualTo(scheduler.stats().ended());
    }
  }

  @Test
  @Feature("S5")
  void fibersAndTimersAfterStopAreRejected() {
    Scheduler scheduler = start(1);
    scheduler.stop();
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> scheduler.go(() -> {}))
        .withMessageContaining(scheduler + " has been stopped");
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> scheduler.execute(() -> {}));
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> scheduler.timers().after(Duration.ZERO, () -> {}))
        .withMessageContaining(scheduler + " has been stopped");
    assertThat(scheduler.timers().pending()).isZero();
  }

  // ---- with a limit ----

  @Test
  @Feature("S5")
  void stopWithinItsLimitCancelsNothing() throws Exception {
    Scheduler scheduler = start(1);
    Fiber<String> fiber =
        scheduler.go(
            () -> {
              Fiber.sleep(Duration.ofMillis(20));
              return "done";
            });
    assertThat(scheduler.stop(Duration.ofSeconds(30))).isTrue();
    assertThat(fiber.join()).isEqualTo("done");
  }

  @Test
  @Feature({"S5", "S15"})
  void stopCancelsAndNamesTheRemainingFibersAtItsLimit() throws Exception {
    try (LogCapture log = new LogCapture()) {
      Scheduler scheduler = start(2);
      List<String> cleanUps = Collections.synchronizedList(new ArrayList<>());
      Fiber<Void> sleeper =
          scheduler.go(
              FiberOptions.named("sleeper"),
              () -> {
                try {
                  Fiber.sleep(Duration.ofHours(1));
                } finally {
                  cleanUps.add("sleeper");
                }
              });
      Fiber<Void> suspended =
          scheduler.go(
              FiberOptions.named("suspended"),
              () -> {
                try {
                  Fiber.suspend();
                } finally {
                  cleanUps.add("suspended");
                }
              });
      AtomicBoolean fired = new AtomicBoolean();
      scheduler.timers().after(Duration.ofHours(1), () -> fired.set(true));
      waits(sleeper);
      waits(suspended);
      assertThat(scheduler.stop(Duration.ofMillis(30))).isFalse();
      assertThat(cleanUps).containsExactlyInAnyOrder("sleeper", "suspended");
      assertThat(fired).isFalse();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(sleeper::join);
      assertThatExceptionOfType(CancellationException.class).isThrownBy(suspended::join);
      assertThat(log.entries(scheduler.name(), "cancelled", "sleeper", "suspended", "1 timers"))
          .singleElement()
          .extracting(LogCapture.Entry::level)
          .isEqualTo("WARNING");
    }
  }

  @Test
  @Feature("S5")
  void cancelledFibersThatDoNotEndAreGivenUpOnAndNamed() throws Exception {
    try (LogCapture log = new LogCapture()) {
      Scheduler scheduler = start(1);
      AtomicBoolean over = new AtomicBoolean();
      Fiber<Void> deaf =
          scheduler.go(
              FiberOptions.named("deaf"),
              () -> {
                while (!over.get()) {
                  Thread.interrupted();
                  Thread.yield();
                }
              });
      FutureTask<Void> joiner = new FutureTask<>(deaf::join);
      Thread.ofPlatform().start(joiner);
      assertThat(scheduler.stop(Duration.ofMillis(10))).isFalse();
      assertThat(log.entries("stopped without the end of", "deaf")).hasSize(1);
      assertThatExceptionOfType(CancellationException.class)
          .isThrownBy(() -> deaf.join(Duration.ofSeconds(20)))
          .havingCause()
          .withMessage(scheduler + " has stopped before the end of " + deaf);
      assertThat(joiner)
          .failsWithin(Duration.ofSeconds(20))
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(CancellationException.class);
      over.set(true);
    }
  }

  @Test
  @Feature({"S5", "S15"})
  void fibersStartedAfterTheLimitAreCancelledToo() throws Exception {
    try (LogCapture log = new LogCapture()) {
      Scheduler scheduler = start(1);
      AtomicReference<Fiber<Void>> late = new AtomicReference<>();
      Fiber<Void> first =
          scheduler.go(
              () -> {
                try {
                  Fiber.suspend();
                } finally {
                  late.set(scheduler.go(() -> Fiber.sleep(Duration.ofHours(1))));
                }
              });
      waits(first);
      assertThat(scheduler.stop(Duration.ofMillis(10))).isFalse();
      assertThat(late.get().status()).isEqualTo(Fiber.Status.DONE);
      assertThatExceptionOfType(CancellationException.class).isThrownBy(late.get()::join);
      assertThat(log.entries("stopped without the end of")).isEmpty();
    }
  }

  /**
   * A thread that pauses between the moment when its fiber is accepted and the moment when it is
   * queued.
   */
  @Test
  @Feature("S5")
  void afterASchedulerGaveUpNothingIsAcceptedAndLost() throws Exception {
    CountDownLatch accepted = new CountDownLatch(1);
    CountDownLatch stopped = new CountDownLatch(1);
    InheritableThreadLocal<String> slow =
        new InheritableThreadLocal<>() {
          @Override
          protected String childValue(String parentValue) {
            accepted.countDown();
            Uninterrupted.await(stopped::await);
            return parentValue;
          }
        };
    Scheduler scheduler = start(1);
    FutureTask<Fiber<Void>> submitter =
        new FutureTask<>(
            () -> {
              slow.set("inherited");
              return scheduler.go(() -> {});
            });
    FutureTask<Throwable> refusal =
        new FutureTask<>(() -> catchThrowable(() -> scheduler.go(() -> {})));
    scheduler.go(
        () -> {
          Uninterrupted.await(accepted::await);
          while (stopped.getCount() > 0) {
            Thread.onSpinWait(); // holds its thread
          }
          refusal.run();
        });
    Thread.ofPlatform().start(submitter);
    accepted.await();
    try (LogCapture _ = new LogCapture()) {
      assertThat(scheduler.stop(Duration.ofMillis(10))).isFalse();
    }
    stopped.countDown();
    Fiber<Void> fiber = submitter.get();
    assertThatExceptionOfType(CancellationException.class)
        .isThrownBy(() -> fiber.join(Duration.ofSeconds(20)))
        .havingCause()
        .withMessageContaining(scheduler + " has stopped before the end of " + fiber);
    assertThat(refusal.get()).isInstanceOf(RejectedExecutionException.class);
  }

  @Test
  @Feature("S5")
  void stopWithALimitFailsOnADeadlockAndCancelsTheFibers() throws Exception {
    Scheduler scheduler = Scheduler.builder().threads(1).failOnDeadlock(true).build().start();
    Fiber<Void> forEver = scheduler.go(FiberOptions.named("for ever"), () -> Fiber.suspend());
    waits(forEver);
    assertThatIllegalStateException()
        .isThrownBy(() -> scheduler.stop(Duration.ofSeconds(30)))
        .withMessageContaining("for ever");
    assertThatExceptionOfType(CancellationException.class)
        .isThrownBy(() -> forEver.join(Duration.ofSeconds(20)))
        .withMessageContaining("for ever");
  }

  @Test
  @Feature({"S5", "S15"})
  void fibersOfASchedulerThatNeverStartedAreCancelled() throws Exception {
    try (LogCapture log = new LogCapture()) {
      Scheduler scheduler = Scheduler.builder().threads(1).name("unborn").build();
      AtomicBoolean ran = new AtomicBoolean();
      Fiber<Void> fiber = scheduler.go(() -> ran.set(true));
      FutureTask<Void> joiner = new FutureTask<>(fiber::join);
      Thread.ofPlatform().start(joiner);
      scheduler.stop();
      assertThatExceptionOfType(CancellationException.class)
          .isThrownBy(() -> fiber.join(Duration.ofSeconds(20)));
      assertThat(joiner)
          .failsWithin(Duration.ofSeconds(20))
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(CancellationException.class);
      assertThat(fiber.status()).isEqualTo(Fiber.Status.DONE);
      assertThat(ran).isFalse();
      assertThat(log.entries("unborn", "never started", "fiber " + fiber.id())).hasSize(1);
      assertThatIllegalStateException().isThrownBy(scheduler::start);
      assertThat(scheduler.stats().begun()).isEqualTo(scheduler.stats().ended());
    }
  }

  // ---- the caller ----

  @Test
  @Feature("S4")
  void fibersAndCallerDoNotShareTheInterruptStatus() {
    Scheduler calm = Scheduler.builder().threads(1).useCaller(true).build().start();
    calm.go(() -> Thread.currentThread().interrupt());
    calm.stop();
    assertThat(Thread.interrupted()).isFalse();

    Scheduler interrupted = Scheduler.builder().threads(1).useCaller(true).build().start();
    AtomicBoolean seen = new AtomicBoolean();
    interrupted.go(
        () -> {
          Fiber.sleep(Duration.ofMillis(1));
          seen.set(Thread.currentThread().isInterrupted());
        });
    Thread.currentThread().interrupt();
    interrupted.stop();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(seen).isFalse();
  }
}
