package dev.weft.internal.sched;

import static dev.weft.Eventually.eventually;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Eventually;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.internal.timer.TimerNode;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What the sentry takes over from a worker that is awake and in no slice. */
@Feature("S24")
class SentryTest {
  /** A timer of Weft's own holds the worker between two slices, as the kernel may. */
  @Test
  void aFiberDoesNotWaitForAWorkerThatHasLostItsCoreBetweenSlices() throws Exception {
    Held held = new Held();
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      Fiber<Integer> fiber =
          scheduler.go(
              () -> {
                Fiber.suspend();
                return Fiber.threadIndex();
              });
      Eventually.waits(fiber);
      Worker home = core(fiber).home;
      Worker other = core(scheduler).worker(1 - home.index);
      eventually("both workers sleep", () -> home.isAsleep() && other.isAsleep());
      home.add(held, System.nanoTime());
      held.begun.await();
      try {
        assertThat(home.isAwake()).isTrue();
        scheduler.schedule(fiber);
        assertThat(fiber.join(Duration.ofSeconds(20))).isEqualTo(other.index);
      } finally {
        held.release();
      }
    }
  }

  private static final class Held extends TimerNode {
    final CountDownLatch begun = new CountDownLatch(1);
    private volatile boolean released;

    @Override
    public void onExpired() {
      begun.countDown();
      while (!released) {
        Thread.onSpinWait();
      }
    }

    void release() {
      released = true;
    }
  }
}
