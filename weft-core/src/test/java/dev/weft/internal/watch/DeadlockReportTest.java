package dev.weft.internal.watch;

import static dev.weft.Eventually.eventually;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.internal.sched.LookHolds;
import dev.weft.testkit.Feature;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the look for a standstill costs, and which schedulers count. */
@Feature("S19")
class DeadlockReportTest {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final Scheduler other = Scheduler.builder().threads(1).build().start();

  @AfterEach
  void stop() {
    LookHolds.observe(null);
    scheduler.stop(Duration.ZERO);
    other.stop(Duration.ZERO);
  }

  /** Counts the fibers at which this thread looks. */
  private static final class Seen extends LookHolds {
    private final Thread looking = Thread.currentThread();
    private int fibers;

    @Override
    protected void began() {}

    @Override
    protected void ended(int count) {
      fibers += Thread.currentThread() == looking ? count : 0;
    }
  }

  /** The watchdog asks each second while a scheduler is idle, perhaps with a million fibers. */
  @Test
  void noFiberIsLookedAtWhileAnotherSchedulerGoesOn() {
    for (int i = 0; i < 1_000; i++) {
      scheduler.go(() -> Fiber.suspend());
    }
    other.go(() -> Fiber.suspend());
    other.timers().every(Duration.ofHours(1), () -> {});
    eventually("all wait", () -> core(scheduler).isStill() && core(other).isStill());
    Seen seen = new Seen();
    LookHolds.observe(seen);
    assertThat(DeadlockReport.ofStandstill(core(scheduler))).isNull();
    assertThat(seen.fibers).isZero();
  }

  @Test
  @Feature("O3")
  void theConsolesSchedulerHidesNoStandstill() {
    FiberLooks.hide(other);
    try {
      scheduler.go(() -> Fiber.suspend());
      other.go(() -> Fiber.sleep(Duration.ofHours(1)));
      eventually("all wait", () -> core(scheduler).isStill() && other.stats().sleeping() == 1);
      assertThat(DeadlockReport.ofStandstill(core(scheduler))).contains("deadlock in");
      assertThat(DeadlockReport.ofStandstill(core(other))).isNull();
    } finally {
      FiberLooks.unhide(other);
    }
  }
}
