package dev.weft.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The timers of a scheduler; {@link TimerTest} checks their times, on a virtual clock. */
@Timeout(60)
class TimersTest {
  private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
  private final Scheduler scheduler =
      Scheduler.builder()
          .threads(2)
          .name("test")
          .onUncaught((fiber, failure) -> uncaught.add(failure))
          .build();
  private final Timers timers = scheduler.timers();

  @AfterEach
  void stop() {
    scheduler.stop(Duration.ofSeconds(10));
  }

  @Test
  @Feature("T1")
  void aCallbackRunsAsAFiberOfTheSchedulerAndMayWait() throws Exception {
    scheduler.start();
    List<Object> seen = new CopyOnWriteArrayList<>();
    CountDownLatch done = new CountDownLatch(1);
    timers.after(
        Duration.ofMillis(1),
        () -> {
          seen.add(Scheduler.current().orElseThrow());
          Fiber.sleep(Duration.ofMillis(1));
          seen.add(Fiber.current().orElseThrow().name());
          done.countDown();
        });
    done.await();
    assertThat(seen).containsExactly(scheduler, "timer");
  }

  @Test
  @Feature({"T1", "S5"})
  void stopWaitsForOneShotButNotForRecurringTimers() {
    scheduler.start();
    AtomicInteger once = new AtomicInteger();
    timers.after(Duration.ofMillis(30), once::incrementAndGet);
    timers.every(Duration.ofMillis(1), () -> {});
    timers.every(Duration.ofHours(1), once::incrementAndGet);
    assertThat(timers.pending()).isEqualTo(3);
    scheduler.stop();
    assertThat(once).hasValue(1);
    assertThat(timers.pending()).isZero();
  }

  @Test
  @Feature({"T1", "S5"})
  void stopDoesNotWaitForCancelledTimers() throws Exception {
    scheduler.start();
    Timer timer = timers.after(Duration.ofHours(1), () -> {});
    Thread stopper = Thread.ofPlatform().start(scheduler::stop);
    assertThat(timer.cancel()).isTrue();
    assertThat(stopper.join(Duration.ofSeconds(30))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Feature({"T1", "S5"})
  void recurringTimersOfAStoppingSchedulerReportNoFailure(boolean useCaller) {
    for (int round = 0; round < 200; round++) {
      Scheduler brief =
          Scheduler.builder()
              .threads(2)
              .useCaller(useCaller)
              .onUncaught((fiber, failure) -> uncaught.add(failure))
              .build();
      for (int i = 0; i < 8; i++) {
        brief.timers().every(Duration.ofNanos(1), () -> {});
      }
      brief.start();
      brief.go(() -> Fiber.yield());
      brief.stop();
    }
    assertThat(uncaught).isEmpty();
  }

  @Test
  @Feature({"T1", "S5"})
  void aStoppedSchedulerRefusesTimers() {
    scheduler.start();
    scheduler.stop();
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> timers.after(Duration.ZERO, () -> {}))
        .withMessage("scheduler test has been stopped");
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> timers.every(Duration.ofMillis(1), () -> {}));
    assertThat(timers.pending()).isZero();
  }

  @Test
  @Feature("T1")
  void timersSetBeforeTheStartFireAfterIt() throws Exception {
    CountDownLatch fired = new CountDownLatch(2);
    timers.after(Duration.ZERO, fired::countDown);
    timers.after(Duration.ofMillis(1), fired::countDown);
    assertThat(timers.pending()).isEqualTo(2);
    scheduler.start();
    fired.await();
  }

  @Test
  @Feature("T1")
  void eachTimerIsEitherCancelledOrCalled() throws Exception {
    scheduler.start();
    Random random = new Random(11);
    AtomicInteger called = new AtomicInteger();
    int cancelled = 0;
    int many = 20_000;
    List<Timer> set = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      set.add(timers.after(Duration.ofNanos(random.nextInt(300_000)), called::incrementAndGet));
      if (set.size() == 10) {
        for (Timer timer : set) {
          cancelled += timer.cancel() ? 1 : 0;
        }
        set.clear();
      }
    }
    scheduler.stop();
    assertThat(called.get() + cancelled).isEqualTo(many);
    assertThat(timers.pending()).isZero();
  }

  @Test
  @Feature("T4")
  void aCallbackNeverRunsConcurrentlyWithItself() throws Exception {
    scheduler.start();
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch calls = new CountDownLatch(20);
    Timer timer =
        timers.every(
            Duration.ofMillis(1),
            () -> {
              most.accumulateAndGet(running.incrementAndGet(), Math::max);
              Fiber.sleep(Duration.ofMillis(3));
              running.decrementAndGet();
              calls.countDown();
            });
    calls.await();
    timer.cancel();
    assertThat(most).hasValue(1);
  }

  @Test
  @Feature("T4")
  void theRateIsKeptAlthoughEachCallbackIsSlow() throws Exception {
    scheduler.start();
    int period = 20;
    int runs = 10;
    List<Long> times = new CopyOnWriteArrayList<>();
    CountDownLatch calls = new CountDownLatch(runs);
    long start = System.nanoTime();
    Timer timer =
        timers.every(
            Duration.ofMillis(period),
            () -> {
              times.add(System.nanoTime() - start);
              Fiber.sleep(Duration.ofMillis(period / 2));
              calls.countDown();
            });
    calls.await();
    timer.cancel();
    for (int i = 0; i < runs; i++) { // never early, however late the other timers were
      assertThat(times.get(i)).isGreaterThanOrEqualTo((i + 1L) * period * 1_000_000);
    }
  }

  @Test
  @Feature("T6")
  void aFailingCallbackIsReportedAndTheTimerGoesOn() throws Exception {
    scheduler.start();
    AtomicInteger calls = new AtomicInteger();
    CountDownLatch third = new CountDownLatch(3);
    Timer timer =
        timers.every(
            Duration.ofMillis(1),
            () -> {
              third.countDown();
              switch (calls.incrementAndGet()) {
                case 1 -> throw new Exception("checked");
                case 2 -> throw new StackOverflowError("deliberate");
                default -> {}
              }
            });
    third.await();
    assertThat(timer.cancel()).isTrue();
    assertThat(uncaught).extracting(Throwable::getMessage).containsExactly("checked", "deliberate");
    assertThat(scheduler.go(() -> "alive").join()).isEqualTo("alive");
  }

  @Test
  @Feature("T6")
  void aFailingFixedDelayCallbackIsCalledAgain() throws Exception {
    scheduler.start();
    CountDownLatch third = new CountDownLatch(3);
    Timer timer =
        timers.everyAfter(
            Duration.ofMillis(1),
            () -> {
              third.countDown();
              throw new IllegalStateException("each time");
            });
    third.await();
    assertThat(timer.cancel()).isTrue();
    assertThat(uncaught).hasSizeGreaterThanOrEqualTo(2);
  }

  @Test
  @Feature("T7")
  void aMillionPendingTimersAreAddedAndCancelledQuicklyAndCounted() {
    scheduler.start();
    int many = 1_000_000;
    Random random = new Random(7);
    List<Timer> set = new ArrayList<>(many);
    long start = System.nanoTime();
    for (int i = 0; i < many; i++) {
      Duration delay = Duration.ofHours(1).plusNanos(random.nextLong(Duration.ofDays(1).toNanos()));
      set.add(timers.after(delay, () -> {}));
    }
    assertThat(timers.pending()).isEqualTo(many);
    Collections.shuffle(set, random);
    for (int i = 0; i < many; i++) {
      assertThat(set.get(i).cancel()).isTrue();
      if (i % 100_000 == 0) {
        assertThat(timers.pending()).isEqualTo(many - i - 1);
      }
    }
    assertThat(timers.pending()).isZero();
    // about a second; a scan of the other timers for each would take hours
    assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(30));
  }

  /** Timers expire on the threads of workers, which must never wait for a fiber of their own. */
  @Test
  @Feature({"T1", "T4"})
  void fibersThatResetARecurringTimerDoNotBlockTheWorkers() throws Exception {
    scheduler.start();
    Timer timer = timers.every(Duration.ofNanos(1), () -> {});
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      fibers.add(
          scheduler.go(
              FiberOptions.named("busy").onThread(i % 2),
              () -> {
                for (int k = 0; k < 50_000; k++) {
                  timer.reset(Duration.ofNanos(1 + k % 2 * 200_000), k % 4 < 2);
                  Fiber.yield();
                }
              }));
    }
    for (Fiber<Void> fiber : fibers) {
      fiber.join(Duration.ofSeconds(30));
    }
    assertThat(timer.cancel()).isTrue();
  }
}
