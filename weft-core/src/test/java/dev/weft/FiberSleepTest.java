package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sleeping fibers. */
@Feature("T8")
@Timeout(60)
class FiberSleepTest {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();

  @AfterEach
  void stop() {
    scheduler.stop(Duration.ofSeconds(10));
  }

  @Test
  void fibersSleepTheirTimeAndTogetherNoLongerThanTheLongest() throws Exception {
    List<Fiber<Long>> sleepers = new ArrayList<>();
    long start = System.nanoTime();
    for (int i = 0; i < 1_000; i++) {
      sleepers.add(
          scheduler.go(
              () -> {
                long before = System.nanoTime();
                Fiber.sleep(Duration.ofMillis(50));
                return System.nanoTime() - before;
              }));
    }
    for (Fiber<Long> sleeper : sleepers) {
      assertThat(sleeper.join()).isGreaterThanOrEqualTo(50_000_000);
    }
    assertThat(System.nanoTime() - start).isLessThan(20_000_000_000L); // in sequence: 50 s
  }

  @Test
  void fibersWakeInTheOrderOfTheirTimes() throws Exception {
    List<Integer> woken = new CopyOnWriteArrayList<>();
    Fiber<Void> parent =
        scheduler.go(
            () -> {
              for (int millis : new int[] {300, 100, 200, 0}) {
                Weft.go(
                    () -> {
                      Fiber.sleep(Duration.ofMillis(millis));
                      woken.add(millis);
                    });
              }
            });
    parent.join();
    scheduler.stop();
    assertThat(woken).containsExactly(0, 100, 200, 300);
  }

  @Test
  void zeroAndNegativeSleepsReturnAtOnce() throws Exception {
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              Fiber.sleep(Duration.ZERO);
              Fiber.sleep(Duration.ofDays(-1));
              Fiber.sleep(Duration.ofSeconds(Long.MIN_VALUE));
              Fiber.sleepUntil(Instant.now().minusSeconds(3600));
              Fiber.sleepUntil(Instant.MIN);
            });
    fiber.join();
  }

  @Test
  void sleepUntilDoesNotReturnBeforeThatTime() throws Exception {
    Fiber<Boolean> fiber =
        scheduler.go(
            () -> {
              Instant time = Instant.now().plusMillis(30);
              long before = System.nanoTime();
              Fiber.sleepUntil(time);
              // by the monotonic clock, so that setting the wall clock does not disturb the test
              return System.nanoTime() - before >= 20_000_000;
            });
    assertThat(fiber.join()).isTrue();
  }

  @Test
  @Feature("S15")
  void theLongestSleepOfAllEndsWithACancel() throws Exception {
    CountDownLatch begun = new CountDownLatch(2);
    Fiber<Void> forEver =
        scheduler.go(
            () -> {
              begun.countDown();
              Fiber.sleep(Duration.ofSeconds(Long.MAX_VALUE));
            });
    Fiber<Void> untilTheEnd =
        scheduler.go(
            () -> {
              begun.countDown();
              Fiber.sleepUntil(Instant.MAX);
            });
    begun.await();
    forEver.cancel();
    untilTheEnd.cancel();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(forEver::join);
    assertThatExceptionOfType(CancellationException.class).isThrownBy(untilTheEnd::join);
    assertThat(scheduler.stats().threads()).allMatch(thread -> thread.timers() == 0);
  }

  @Test
  void aPlainThreadSleepsToo() throws Exception {
    long before = System.nanoTime();
    Fiber.sleep(Duration.ofMillis(5));
    assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(5_000_000);
    Fiber.sleep(Duration.ofMillis(-5));
  }

  @Test
  void threadSleepInAFiberLeavesTheThreadToOtherFibers() throws Exception {
    List<String> order = new CopyOnWriteArrayList<>();
    Fiber<Void> sleeper =
        scheduler.go(
            () -> {
              order.add("sleeper begins");
              Thread.sleep(Duration.ofMillis(30));
              order.add("sleeper ends");
            });
    Fiber<Boolean> other = scheduler.go(() -> order.add("other runs"));
    other.join();
    sleeper.join();
    assertThat(order).containsExactly("sleeper begins", "other runs", "sleeper ends");
  }
}
