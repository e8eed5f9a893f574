package dev.weft.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Hook;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Never early, and hardly late. The upper bounds are for a busy machine, and for the best of a few
 * medians: an idle machine keeps 2 ms.
 */
@Feature("T2")
@Timeout(60)
class TimerPrecisionTest {
  private static final int MOST_ROUNDS = 5;

  private final Scheduler scheduler = Scheduler.builder().threads(2).build().start();

  @AfterEach
  void stop() {
    scheduler.stop(Duration.ofSeconds(10));
  }

  @Test
  void manyTimersAreNeverEarlyAndHardlyLate() throws Exception {
    assertHardlyLate(this::lateTimers);
  }

  private long[] lateTimers() throws Exception {
    Random random = new Random(2);
    int many = 2_000;
    long[] late = new long[many];
    CountDownLatch fired = new CountDownLatch(many);
    for (int i = 0; i < many; i++) {
      int number = i;
      long delay = random.nextLong(200_000_000);
      long set = System.nanoTime();
      scheduler
          .timers()
          .after(
              Duration.ofNanos(delay),
              () -> {
                late[number] = System.nanoTime() - set - delay;
                fired.countDown();
              });
    }
    fired.await();
    return late;
  }

  @Test
  void sleepsAreNeverShortAndHardlyLong() throws Exception {
    assertHardlyLate(this::lateSleeps);
  }

  private long[] lateSleeps() throws Exception {
    Random random = new Random(3);
    int many = 2_000;
    long[] late = new long[many];
    List<Fiber<Void>> sleepers = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      int number = i;
      long delay = random.nextLong(200_000_000);
      sleepers.add(
          scheduler.go(
              () -> {
                long set = System.nanoTime();
                Fiber.sleep(Duration.ofNanos(delay));
                late[number] = System.nanoTime() - set - delay;
              }));
    }
    for (Fiber<Void> sleeper : sleepers) {
      sleeper.join();
    }
    return late;
  }

  /**
   * The worker does not sleep for so short a time, so that the bound, a third of a tick or a tick,
   * holds on a busy machine too: for the best of a few medians. Without the hook of {@code
   * Thread.sleep} a timer of the JDK ends the sleep.
   */
  @ParameterizedTest
  @CsvSource({"1000, false", "1000, true", "100, false", "100, true"})
  @Feature("T8")
  void aShortSleepIsNotRoundedUpToATickOfTheWheel(long nanos, boolean ofTheJdk) throws Exception {
    long most = ofTheJdk && !Hook.isInstalled(Hook.Family.TIMERS) ? 125_000 : 40_000;
    List<Long> medians = new ArrayList<>();
    do {
      long[] took = scheduler.go(() -> sleepAgainAndAgain(nanos, ofTheJdk)).join();
      Arrays.sort(took);
      assertThat(took[0]).as("never early").isGreaterThanOrEqualTo(nanos);
      medians.add(took[took.length / 2]);
    } while (medians.getLast() >= most && medians.size() < MOST_ROUNDS);
    assertThat(medians.getLast()).as("the last of the medians %s", medians).isLessThan(most);
  }

  private static long[] sleepAgainAndAgain(long nanos, boolean ofTheJdk)
      throws InterruptedException {
    Duration length = Duration.ofNanos(nanos);
    long[] took = new long[2_000];
    for (int i = 0; i < took.length; i++) {
      long start = System.nanoTime();
      if (ofTheJdk) {
        Thread.sleep(length);
      } else {
        Fiber.sleep(length);
      }
      took[i] = System.nanoTime() - start;
    }
    return took;
  }

  private static void assertHardlyLate(Callable<long[]> round) throws Exception {
    long most = 50_000_000;
    List<Long> medians = new ArrayList<>();
    do {
      long[] late = round.call();
      Arrays.sort(late);
      assertThat(late[0]).as("never early").isGreaterThanOrEqualTo(0);
      medians.add(late[late.length / 2]);
    } while (medians.getLast() >= most && medians.size() < MOST_ROUNDS);
    assertThat(medians.getLast()).as("the last of the medians %s", medians).isLessThan(most);
  }

  @Test
  void aNewEarliestTimerWakesTheSleepingThread() throws Exception {
    for (int round = 0; round < 20; round++) {
      List<Timer> far = new ArrayList<>();
      for (int i = 0; i < 4; i++) { // on each thread
        far.add(scheduler.timers().after(Duration.ofMinutes(10), () -> {}));
      }
      awaitAllAsleep();
      CountDownLatch near = new CountDownLatch(1);
      long start = System.nanoTime();
      scheduler.timers().after(Duration.ofMillis(5), near::countDown);
      assertThat(near.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(5_000_000);
      far.forEach(Timer::cancel);
    }
  }

  @Test
  void aNewEarliestTimerOfAFiberWakesTheSleepingThreadToo() throws Exception {
    Fiber<Void> far =
        scheduler.go(
            FiberOptions.named("far").onThread(1), () -> Fiber.sleep(Duration.ofMinutes(10)));
    awaitAllAsleep();
    Fiber<Void> near =
        scheduler.go(
            FiberOptions.named("near").onThread(1), () -> Fiber.sleep(Duration.ofMillis(5)));
    near.join(Duration.ofSeconds(30));
    far.cancel();
  }

  private void awaitAllAsleep() {
    long start = System.nanoTime();
    while (!scheduler.stats().threads().stream().allMatch(thread -> thread.asleep())) {
      assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(30));
      LockSupport.parkNanos(100_000);
    }
  }
}
