package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import dev.weft.testkit.Feature;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * How much a CPU second brings. CPU time, and the best of some rounds, because the machine may be
 * busy and the JVM cold; each test prints what it measured.
 */
class SpeedTest {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final int ROUNDS = 10;

  private static final class Counter {
    private int value;

    void increment() {
      value++;
    }
  }

  private static void twoFibers(Simulation sim) throws Exception {
    Counter counter = new Counter();
    Thread other = Thread.ofVirtual().start(counter::increment);
    counter.increment();
    other.join();
    assertThat(counter.value).isPositive();
  }

  @Test
  @Feature("V3")
  void aCpuSecondHasThirtyThousandSchedulesOfTwoFibers() {
    SimulationOptions options = SimulationOptions.seeds(20_000).points("dev.weft.sim.SpeedTest");
    double best = 0;
    for (int round = 0; round < ROUNDS && best < 30_000; round++) {
      long before = SYSTEM.getProcessCpuTime();
      SimulationResult result = Simulation.explore(options, SpeedTest::twoFibers);
      best = Math.max(best, result.runs() * 1e9 / (SYSTEM.getProcessCpuTime() - before));
      System.out.printf("round %d: best %,.0f schedules per CPU second%n", round, best);
    }
    assertThat(best).isGreaterThan(30_000);
  }

  private static void aDay(Simulation sim) throws Exception {
    for (int minute = 0; minute < 24 * 60; minute++) {
      Thread.sleep(Duration.ofMinutes(1));
    }
    assertThat(sim.elapsed()).isEqualTo(Duration.ofDays(1));
  }

  @Test
  @Feature("V1")
  void aDayPassesInATenthOfASecond() {
    double best = Double.MAX_VALUE;
    for (int round = 0; round < ROUNDS && best > 0.1; round++) {
      long before = SYSTEM.getProcessCpuTime();
      SimulationResult result = Simulation.explore(SimulationOptions.seeds(10), SpeedTest::aDay);
      double seconds = (SYSTEM.getProcessCpuTime() - before) / 1e9;
      best = Math.min(best, seconds / result.runs());
      System.out.printf("round %d: best %.4f CPU seconds for 24 virtual hours%n", round, best);
    }
    assertThat(best).isLessThan(0.1);
  }
}
