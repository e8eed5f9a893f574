package dev.weft.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class CpuClockTest {
  @Test
  void theClockCountsTheWorkOfOtherThreadsToo() throws InterruptedException {
    long before = CpuClock.nanos();
    Thread busy = new Thread(CpuClockTest::workFor100Millis);
    busy.start();
    busy.join();

    assertThat(CpuClock.nanos() - before).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(99));
  }

  @Test
  void theClockOfAProcessIsReadFromOutsideToo() {
    long before = CpuClock.nanos();
    long outside = CpuClock.nanosOf(ProcessHandle.current().pid());

    assertThat(outside).isBetween(before, CpuClock.nanos());
  }

  /** By the thread's own clock: on a busy machine it takes longer by any other. */
  private static void workFor100Millis() {
    var clock = ManagementFactory.getThreadMXBean();
    while (clock.getCurrentThreadCpuTime() < TimeUnit.MILLISECONDS.toNanos(100)) {
      Thread.onSpinWait();
    }
  }
}
