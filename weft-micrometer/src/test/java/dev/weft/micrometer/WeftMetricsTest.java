package dev.weft.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.SchedulerStats;
import dev.weft.testkit.Feature;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The meters of a scheduler, against its own numbers. */
@Feature("O4")
@Timeout(30)
class WeftMetricsTest {
  @Test
  void theMetersHaveTheNumbersOfTheScheduler() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    MeterRegistry registry = new SimpleMeterRegistry();
    try (Scheduler scheduler = Scheduler.builder().threads(2).name("metered").build().start()) {
      // @start region="bind"
      WeftMetrics.of(scheduler).bindTo(registry);
      // @end region="bind"
      Fiber<Void> sleeper =
          scheduler.go(
              FiberOptions.named("sleeper").onThread(1),
              () -> {
                try {
                  Fiber.sleep(Duration.ofHours(1));
                } catch (InterruptedException e) {
                  // cancelled below
                }
              });
      scheduler.go(() -> release.await());
      scheduler.go(() -> release.await());
      eventually(() -> gauge(registry, "waiting") == 2 && gauge(registry, "sleeping") == 1);

      assertThat(gauge(registry, "ready")).isZero();
      assertThat(gauge(registry, "running")).isZero();
      assertThat(gauge(registry, "blocking")).isZero();
      assertThat(gauge(registry, "awaiting-helper")).isZero();
      assertThat(counter(registry, "weft.fibers.begun")).isEqualTo(3);
      assertThat(counter(registry, "weft.fibers.ended")).isZero();
      SchedulerStats stats = scheduler.stats();
      for (SchedulerStats.OfThread thread : stats.threads()) {
        assertThat(ofThread(registry, "weft.switches", thread))
            .isEqualTo((double) thread.switches());
        assertThat(ofThread(registry, "weft.steals", thread)).isEqualTo((double) thread.stolen());
        assertThat(ofThread(registry, "weft.sleeps", thread)).isPositive();
        assertThat(ofThread(registry, "weft.rescues", thread)).isZero();
        assertThat(ofThread(registry, "weft.timers", thread)).isEqualTo(thread.timers());
        assertThat(ofThread(registry, "weft.ready", thread)).isZero();
      }

      release.countDown();
      eventually(() -> counter(registry, "weft.fibers.ended") == 2);
      sleeper.cancel();
    }
    eventually(() -> counter(registry, "weft.fibers.ended") == 3);
  }

  private static double gauge(MeterRegistry registry, String state) {
    return registry
        .get("weft.fibers")
        .tag("scheduler", "metered")
        .tag("state", state)
        .gauge()
        .value();
  }

  private static double counter(MeterRegistry registry, String name) {
    return registry.get(name).tag("scheduler", "metered").functionCounter().count();
  }

  private static double ofThread(
      MeterRegistry registry, String name, SchedulerStats.OfThread thread) {
    return registry
        .get(name)
        .tag("thread", String.valueOf(thread.index()))
        .meter()
        .measure()
        .iterator()
        .next()
        .getValue();
  }

  private static void eventually(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(1_000_000);
    }
  }
}
