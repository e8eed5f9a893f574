package dev.weft.internal.sched;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Policy;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a worker tells other workers about its ready fibers. */
class WorkerQueueTest {
  /** An empty queue that does not always know its size. */
  private static final class Forgetful implements Policy.ReadyQueue {
    private final AtomicBoolean forgets;

    Forgetful(AtomicBoolean forgets) {
      this.forgets = forgets;
    }

    @Override
    public void add(Fiber<?> fiber, long now) {}

    @Override
    public @Nullable Fiber<?> next(long now) {
      return null;
    }

    @Override
    public int size() {
      if (forgets.get()) {
        throw new IllegalStateException("planned");
      }
      return 0;
    }
  }

  @Test
  @Feature("S24")
  void aLookThatFindsNothingToTakeCorrectsTheCountThatLedToIt() {
    AtomicBoolean forgets = new AtomicBoolean(true);
    SchedulerCore scheduler =
        (SchedulerCore) Scheduler.builder().threads(2).policy(() -> new Forgetful(forgets)).build();
    Worker worker = scheduler.workers[0];
    worker.lock();
    try {
      worker.countWaiting();
    } finally {
      worker.unlock();
    }
    assertThat(worker.seemsToHaveWaiting()).as("a queue that fails may have fibers").isTrue();
    forgets.set(false);
    assertThat(worker.giveAway(0, false)).isEmpty();
    assertThat(worker.seemsToHaveWaiting()).isFalse();
  }
}
