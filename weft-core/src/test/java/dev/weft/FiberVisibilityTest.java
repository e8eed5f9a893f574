package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Happens-before: which fibers see another fiber's writes to plain fields. */
@Timeout(60)
class FiberVisibilityTest {
  private final Scheduler scheduler =
      Scheduler.builder().threads(2).policy(Policy.workStealing()).build().start();

  // plain fields, deliberately
  private long counter;
  private long sum;

  @AfterEach
  void stop() {
    scheduler.stop(Duration.ofSeconds(10));
  }

  @Test
  @Feature("S1")
  void goHappensBeforeTheBodyAndTheBodyBeforeJoinReturns() throws Exception {
    for (int i = 0; i < 20_000; i++) {
      counter = i;
      scheduler.go(() -> counter++).join();
      assertThat(counter).isEqualTo(i + 1);
    }
  }

  @Test
  @Feature("S8")
  void scheduleHappensBeforeSuspendReturns() throws Exception {
    int rounds = 20_000;
    List<Fiber<?>> players = new ArrayList<>();
    Fiber<Void> ping =
        scheduler.go(FiberOptions.named("ping").onThread(0), () -> play(players, 1, rounds));
    Fiber<Void> pong =
        scheduler.go(FiberOptions.named("pong").onThread(1), () -> play(players, 0, rounds));
    players.add(ping);
    players.add(pong);
    scheduler.schedule(ping);
    ping.join();
    pong.join();
    assertThat(counter).isEqualTo(2L * rounds);
    assertThat(sum).isEqualTo(rounds * (2L * rounds - 1));
  }

  /** Waits for its turn, counts, and passes the turn on. */
  private void play(List<Fiber<?>> players, int other, int rounds) {
    for (int i = 0; i < rounds; i++) {
      Fiber.suspend();
      sum += counter++;
      scheduler.schedule(players.get(other));
    }
  }

  @Test
  @Feature("S8")
  void aSliceHappensBeforeTheNextSliceOnWhicheverThread() throws Exception {
    List<Fiber<Boolean>> fibers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      fibers.add(
          scheduler.go(
              () -> {
                long[] own = new long[1];
                for (int n = 0; n < 10_000; n++) {
                  if (own[0]++ != n) {
                    return false;
                  }
                  Fiber.yield();
                }
                return true;
              }));
    }
    for (Fiber<Boolean> fiber : fibers) {
      assertThat(fiber.join()).isTrue();
    }
  }

  @Test
  @Feature({"T1", "S13"})
  void settingATimerOrSubmittingATaskHappensBeforeItRuns() throws Exception {
    try (FiberPool pool = FiberPool.builder().scheduler(scheduler).fibers(2).build()) {
      for (int i = 0; i < 5_000; i++) {
        counter = i;
        CountDownLatch fired = new CountDownLatch(1);
        scheduler
            .timers()
            .after(
                Duration.ZERO,
                () -> {
                  sum = counter;
                  fired.countDown();
                });
        fired.await();
        assertThat(sum).isEqualTo(i);
        counter = -i;
        assertThat(pool.submit(() -> counter).get()).isEqualTo(-i);
      }
    }
  }
}
