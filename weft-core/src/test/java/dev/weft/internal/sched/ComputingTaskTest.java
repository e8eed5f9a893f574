package dev.weft.internal.sched;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** Each offer of a task is run once, by the pool or by the caller, also without memory. */
@Feature("S28")
class ComputingTaskTest {
  private final Queue<Runnable> queue = new ArrayDeque<>();
  private int runs;
  private final ComputingTask task =
      new ComputingTask() {
        @Override
        void runOffered() {
          runs++;
        }
      };

  private void runQueued() {
    for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
      next.run();
    }
  }

  private static Executor failingAfter(Executor pool) {
    return slice -> {
      pool.execute(slice);
      throw new OutOfMemoryError("simulated");
    };
  }

  @Test
  void anAcceptedOfferIsRunOnceEachTime() {
    for (int i = 1; i <= 3; i++) {
      assertThat(task.offerTo(queue::add)).isTrue();
      runQueued();
      assertThat(runs).isEqualTo(i);
    }
  }

  @Test
  void aPoolThatFailsWithoutQueueingItLeavesItToTheCaller() {
    assertThat(task.offerTo(failingAfter(_ -> {}))).isFalse();
    assertThat(runs).isZero();
  }

  @Test
  void aPoolThatFailsAfterQueueingItDoesNotRunItToo() {
    assertThat(task.offerTo(failingAfter(queue::add))).isFalse();
    runQueued();
    assertThat(runs).isZero();
  }

  @Test
  void aPoolThatFailsAfterRunningItHasRunIt() {
    assertThat(task.offerTo(failingAfter(Runnable::run))).isTrue();
    assertThat(runs).isEqualTo(1);
  }

  @Test
  void aTaskThatStayedInTheQueueIsRunOnceForALaterOffer() {
    assertThat(task.offerTo(failingAfter(queue::add))).isFalse();
    assertThat(task.offerTo(queue::add)).isTrue();
    runQueued();
    assertThat(runs).isEqualTo(1);
  }

  @Test
  void anOfferThatIsTakenBackIsNotRun() {
    assertThat(task.offerTo(queue::add)).isTrue();
    assertThat(task.takeBack()).isTrue();
    assertThat(task.takeBack()).isFalse();
    runQueued();
    assertThat(runs).isZero();
  }
}
