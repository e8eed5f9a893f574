package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * A thread that looks at the stack of a ready fiber makes the fiber ready again afterwards, but is
 * no waker: the fiber does not move to the worker of the looking fiber, behind its slice.
 */
@Feature("S24")
class LookedAtFiberTest {
  private static final int ROUNDS = 1_000;

  /** Lets two threads wait for each other without a park or a yield. */
  private static final class Barrier {
    private final AtomicInteger missing = new AtomicInteger(2);
    private volatile int generation;

    @SuppressWarnings("NonAtomicVolatileUpdate") // by the last to arrive alone
    void await() {
      int seen = generation;
      if (missing.decrementAndGet() == 0) {
        missing.set(2);
        generation = seen + 1;
      } else {
        while (generation == seen) {
          Thread.onSpinWait();
        }
      }
    }
  }

  /** The shape of OpenJDK's test GetStackTraceALotWhenPinned. */
  @Test
  void aFiberThatIsLookedAtStaysWithItsWorker() throws Exception {
    try (Scheduler scheduler =
        Scheduler.builder().threads(2).separateComputing(false).build().start()) {
      Barrier barrier = new Barrier();
      Fiber<Void> pinned =
          scheduler.go(
              FiberOptions.named("pinned"),
              () -> {
                for (int i = 0; i < ROUNDS; i++) {
                  barrier.await();
                  Thread.yield();
                  NativeFrame.run(LockSupport::park);
                }
              });
      Fiber<Void> looking =
          scheduler.go(
              FiberOptions.named("looking"),
              () -> {
                Thread thread = pinned.thread();
                for (int i = 0; i < ROUNDS; i++) {
                  barrier.await();
                  assertThat(thread.getStackTrace()).isNotNull();
                  LockSupport.unpark(thread);
                }
              });
      looking.join();
      pinned.join();
      long taken = scheduler.stats().threads().stream().mapToLong(t -> t.stolen()).sum();
      assertThat(taken).as("how often the sentry had to take it over").isLessThan(ROUNDS / 40);
    }
  }
}
