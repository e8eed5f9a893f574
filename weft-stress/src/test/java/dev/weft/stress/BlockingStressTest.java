package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.SchedulerStats;
import dev.weft.Weft;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many fibers that move to helper threads and back while they are woken, cancelled and dumped. */
@Feature("H7")
class BlockingStressTest {
  private static final int FIBERS = 200; // more than the number of helpers
  private static final int STEPS = 60;

  private final long seed = System.nanoTime();

  /** Only one thread at a time may be here. */
  private static final class Here {
    private final AtomicInteger inside = new AtomicInteger();
    private int plain; // the next thread that runs the fiber must see it

    void touch(int expected) {
      assertThat(inside.incrementAndGet()).isEqualTo(1);
      assertThat(plain++).isEqualTo(expected);
      assertThat(inside.decrementAndGet()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void noFiberIsLostOrRunTwice(int threads) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    Scheduler scheduler = Scheduler.builder().threads(threads).build().start();
    AtomicInteger finished = new AtomicInteger();
    AtomicInteger cancelled = new AtomicInteger();
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < FIBERS; i++) {
      SplittableRandom own = random.split();
      fibers.add(
          scheduler.go(
              () -> {
                try {
                  live(own);
                  finished.incrementAndGet();
                } catch (InterruptedException | CancellationException e) {
                  cancelled.incrementAndGet();
                  throw e;
                }
              }));
    }
    int asked = 0;
    while (fibers.stream().anyMatch(fiber -> fiber.status() != Fiber.Status.DONE)) {
      Fiber<Void> fiber = fibers.get(random.nextInt(FIBERS));
      switch (random.nextInt(20)) {
        case 0 -> scheduler.dump(); // makes the JDK submit slices twice
        case 1 -> scheduler.stats();
        case 2 -> asked += asked < FIBERS / 4 && fiber.cancel() ? 1 : 0;
        case 3 -> LockSupport.unpark(fiber.thread());
        default -> scheduler.schedule(fiber);
      }
      LockSupport.parkNanos(10_000);
    }
    scheduler.stop();
    int unexpected = 0;
    for (Fiber<Void> fiber : fibers) {
      try {
        fiber.join();
      } catch (CancellationException e) {
        unexpected++;
      }
    }
    SchedulerStats stats = scheduler.stats();
    assertThat(stats.begun()).as("seed %d: %s", seed, stats).isEqualTo(stats.ended());
    assertThat(stats.blocking() + stats.awaitingHelper()).isZero();
    assertThat(unexpected).as("cancelled, seed %d", seed).isEqualTo(asked);
    assertThat(finished.get() + cancelled.get()).isLessThanOrEqualTo(FIBERS);
    assertThat(finished.get()).as("seed %d", seed).isGreaterThanOrEqualTo(FIBERS - asked);
  }

  private static void live(SplittableRandom random) throws Exception {
    Here here = new Here();
    for (int step = 0; step < STEPS; step++) {
      int now = step;
      switch (random.nextInt(8)) {
        case 0 -> {
          Fiber.yield();
          here.touch(now);
        }
        case 1 -> {
          Fiber.sleep(Duration.ofNanos(random.nextInt(50_000)));
          here.touch(now);
        }
        case 2 -> {
          Fiber.suspend();
          here.touch(now);
        }
        case 3 -> {
          try {
            Weft.withTimeout(
                Duration.ofNanos(random.nextInt(200_000)),
                () ->
                    Weft.blocking(
                        () -> {
                          Thread.sleep(Duration.ofNanos(random.nextInt(200_000)));
                          return null;
                        }));
          } catch (TimeoutException e) {
            // the body was too slow
          }
          here.touch(now);
        }
        case 4 ->
            Weft.blocking(
                () -> {
                  Fiber.suspend();
                  here.touch(now);
                  return null;
                });
        default ->
            Weft.blocking(
                () -> {
                  here.touch(now);
                  return null;
                });
      }
      assertThat(Fiber.threadIndex()).isNotNegative();
    }
  }

  /** The helper takes the call before or after the fiber parks: both orders occur many times. */
  @Test
  void aFiberMovesToHelpersAndBackManyTimes() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      List<Fiber<Integer>> fibers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        fibers.add(
            scheduler.go(
                () -> {
                  int there = 0;
                  for (int k = 0; k < 2_000; k++) {
                    there += Weft.blocking(() -> Fiber.threadIndex());
                  }
                  return there;
                }));
      }
      for (Fiber<Integer> fiber : fibers) {
        assertThat(fiber.join()).isEqualTo(-2_000);
      }
    }
  }
}
