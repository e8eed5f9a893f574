package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The ready, sleeping and waiting sets in numbers. */
@Feature("S22")
class SchedulerStatsTest {
  @Test
  void everyFiberIsInOneSet() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    AtomicBoolean over = new AtomicBoolean();
    Scheduler scheduler = Scheduler.builder().threads(2).build().start();
    for (int i = 0; i < 3; i++) {
      waits(
          scheduler.go(
              FiberOptions.named("sleeper").onThread(0),
              () -> {
                try {
                  Fiber.sleep(Duration.ofHours(1));
                } catch (InterruptedException e) {
                  // the scheduler stops
                }
              }));
    }
    for (int i = 0; i < 4; i++) {
      waits(scheduler.go(() -> release.await()));
    }
    Fiber<Void> spinner =
        scheduler.go(
            FiberOptions.named("spinner").onThread(1),
            () -> {
              while (!over.get()) {
                Thread.onSpinWait();
              }
            });
    eventually("the spinner runs", () -> spinner.status() == Fiber.Status.RUNNING);
    for (int i = 0; i < 5; i++) {
      scheduler.go(FiberOptions.named("ready").onThread(1), () -> {});
    }

    SchedulerStats stats = scheduler.stats();
    assertThat(stats.sleeping()).isEqualTo(3);
    assertThat(stats.waiting()).isEqualTo(4);
    assertThat(stats.running()).isEqualTo(1);
    assertThat(stats.ready()).isEqualTo(5);
    assertThat(stats.begun()).isEqualTo(13);
    assertThat(stats.ended()).isZero();
    assertThat(stats.threads()).extracting(SchedulerStats.OfThread::index).containsExactly(0, 1);
    assertThat(stats.threads().get(0).timers()).isEqualTo(3);
    assertThat(stats.threads().get(0).ready()).isZero();
    assertThat(stats.threads().get(1).timers()).isZero();
    assertThat(stats.threads().get(1).ready()).isEqualTo(5);
    assertThat(stats.threads().get(1).asleep()).isFalse();
    eventually("thread 0 sleeps", () -> scheduler.stats().threads().get(0).asleep());

    over.set(true);
    release.countDown();
    eventually("the other fibers have ended", () -> scheduler.stats().ended() == 10);
    scheduler.dump().fibers().forEach(entry -> assertThat(entry.name()).isEqualTo("sleeper"));
    assertThat(scheduler.stop(Duration.ZERO)).isFalse();
    SchedulerStats last = scheduler.stats();
    assertThat(last.ended()).isEqualTo(last.begun()).isEqualTo(13);
    assertThat(last.sleeping() + last.waiting() + last.running() + last.ready()).isZero();
    assertThat(last.threads().get(0).timers()).isZero();
  }

  @Test
  void switchesAreCountedPerThread() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      scheduler
          .go(
              FiberOptions.named("f").onThread(1),
              () -> {
                for (int i = 0; i < 99; i++) {
                  Fiber.yield();
                }
              })
          .join();
      eventually("the end is counted", () -> scheduler.stats().ended() == 1);
      assertThat(scheduler.stats().threads())
          .extracting(SchedulerStats.OfThread::switches)
          .containsExactly(0L, 100L);
    }
  }

  @Test
  void stealsAreCounted() throws Exception {
    try (Scheduler scheduler =
        Scheduler.builder().threads(2).policy(Policy.workStealing()).build().start()) {
      CountDownLatch stolen = new CountDownLatch(4);
      scheduler
          .go(
              FiberOptions.named("victim").onThread(0),
              () -> {
                for (int i = 0; i < 4; i++) {
                  scheduler.go(stolen::countDown);
                }
                while (stolen.getCount() > 0) { // without a scheduling point
                  Thread.onSpinWait();
                }
              })
          .join();
      assertThat(scheduler.stats().threads())
          .extracting(SchedulerStats.OfThread::stolen)
          .containsExactly(0L, 4L);
    }
  }

  @Test
  void wakeUpsAreCounted() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      eventually("the worker sleeps", () -> scheduler.stats().threads().getFirst().asleep());
      long before = scheduler.stats().threads().getFirst().sleeps();
      for (int i = 0; i < 5; i++) {
        scheduler.go(() -> {}).join();
        eventually(
            "the worker sleeps again", () -> scheduler.stats().threads().getFirst().asleep());
      }
      assertThat(scheduler.stats().threads().getFirst().sleeps() - before).isBetween(5L, 20L);
    }
  }
}
