package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Fiber;
import dev.weft.testkit.Feature;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Clocks of hosts differ, and drift. */
@Feature("V7")
class HostClockTest {
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  private static void simulate(SimulationBody body) {
    Simulation.explore(SimulationOptions.seeds(10), body).check();
  }

  @Test
  void anOffsetMovesTheTimeOfDayOnly() {
    simulate(
        sim -> {
          long nanos = System.nanoTime();
          sim.clock().offset(Duration.ofHours(-3));
          assertThat(System.nanoTime()).isEqualTo(nanos);
          assertThat(Instant.now()).isEqualTo(BEGIN.minusSeconds(3 * 3600));
          assertThat(Clock.systemUTC().instant()).isEqualTo(BEGIN.minusSeconds(3 * 3600));
          assertThat(System.currentTimeMillis())
              .isEqualTo(BEGIN.minusSeconds(3 * 3600).toEpochMilli());
          Thread.sleep(5);
          assertThat(System.nanoTime() - nanos).isEqualTo(5_000_000);
        });
  }

  @Test
  void aDriftChangesEveryClockAndEverySleep() {
    simulate(
        sim -> {
          sim.clock().drift(1_000); // a second takes 0.999 s
          long nanos = System.nanoTime();
          Instant before = Instant.now();
          Thread.sleep(Duration.ofSeconds(1_001));
          assertThat(sim.elapsed()).isEqualTo(Duration.ofSeconds(1_000));
          assertThat(System.nanoTime() - nanos).isEqualTo(1_001_000_000_000L);
          assertThat(Duration.between(before, Instant.now())).isEqualTo(Duration.ofSeconds(1_001));
          assertThat(new CountDownLatch(1).await(1_001, TimeUnit.SECONDS)).isFalse();
          assertThat(sim.elapsed()).isEqualTo(Duration.ofSeconds(2_000));
          CompletableFuture.runAsync(
                  () -> {}, CompletableFuture.delayedExecutor(1_001, TimeUnit.SECONDS))
              .get();
          assertThat(sim.elapsed()).isEqualTo(Duration.ofMinutes(50));
          Fiber.sleep(Duration.ofSeconds(1_000)); // Weft's own timers do not drift
          assertThat(sim.elapsed()).isEqualTo(Duration.ofSeconds(4_000));
          sim.clock().drift(-500_000); // half as fast
          nanos = System.nanoTime();
          Thread.sleep(100);
          assertThat(sim.elapsed()).isEqualTo(Duration.ofMillis(4_000_200));
          assertThat(System.nanoTime() - nanos).isEqualTo(100_000_000);
        });
  }

  @Test
  void clocksNeverGoBackUnderDrift() {
    simulate(
        sim -> {
          sim.clock().drift(-123.4);
          long last = System.nanoTime();
          for (int i = 0; i < 200; i++) {
            Thread.sleep(Duration.ofNanos(1 + 7_919L * i * i));
            if (i == 100) {
              sim.clock().drift(-77_777);
            }
            long now = System.nanoTime();
            assertThat(now - last).isGreaterThanOrEqualTo(1 + 7_919L * i * i);
            last = now;
          }
        });
  }

  @Test
  void aDriftThatIsNotAClockIsRefused() {
    assertThatThrownBy(() -> new HostClock(() -> 0, new FaultCounts()).drift(1_000_000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("parts per million");
  }

  // ---- a lease that relies on synchronous clocks ----

  /** A lease of 10 s that a server grants, and its holder gives up somewhat earlier. */
  private static void lease(Simulation sim, double driftOfHolder, Duration margin)
      throws Exception {
    Map<Thread, Object> hostOf = new IdentityHashMap<>();
    Object holder = new Object();
    sim.clocks().hosts(() -> hostOf.getOrDefault(Thread.currentThread(), HostClocks.MAIN));
    sim.clocks().of(holder).drift(driftOfHolder);
    boolean[] holds = {true};
    Duration lease = Duration.ofSeconds(10);
    Thread thread =
        Thread.ofVirtual()
            .unstarted(
                () -> {
                  try {
                    long until = System.nanoTime() + lease.minus(margin).toNanos();
                    while (System.nanoTime() < until) {
                      Thread.sleep(Duration.ofMillis(100)); // uses what the lease protects
                    }
                    holds[0] = false;
                  } catch (InterruptedException e) {
                    // the run has ended
                  }
                });
    hostOf.put(thread, holder);
    thread.start();
    Thread.sleep(lease);
    if (holds[0]) {
      throw new AssertionError("the server grants the lease again while its holder uses it");
    }
  }

  @Test
  void aLeaseWithoutAMarginForDriftIsFound() {
    SimulationResult found =
        Simulation.explore(
            SimulationOptions.seeds(100), sim -> lease(sim, -20_000, Duration.ofMillis(100)));
    assertThat(found.failure().orElseThrow().text()).contains("the server grants the lease again");
    simulate(sim -> lease(sim, 0, Duration.ofMillis(100))); // clocks that agree do not show it
    simulate(sim -> lease(sim, -20_000, Duration.ofMillis(400)));
  }
}
