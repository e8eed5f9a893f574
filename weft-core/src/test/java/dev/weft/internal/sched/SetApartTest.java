package dev.weft.internal.sched;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Eventually;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.LogCapture;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fibers that are set apart where they move, are bound, or the JDK fails. */
@Feature("S28")
@Timeout(120)
class SetApartTest {
  private static Scheduler two() {
    return Scheduler.builder().threads(2).build().start();
  }

  private static FiberCore<?> self() {
    return Objects.requireNonNull(FiberCore.currentOrNull());
  }

  /** Computes on a worker until the watchdog has noted that the slice is long. */
  private static void computeForLong() {
    Worker worker = self().worker;
    while (worker.longSlice != worker.slices()) {
      Thread.onSpinWait();
    }
  }

  private static void becomeApart() {
    while (!self().isOnHelper()) {
      computeForLong();
      Fiber.yield();
    }
  }

  /** Returns once fibers can be set apart: none is in the first two seconds of a program. */
  private static void awaitStart() throws Exception {
    try (Scheduler scheduler = two()) {
      scheduler.go(SetApartTest::becomeApart).join();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFiberThatMovesToAnotherSchedulerAtTheEndOfALongSliceLeavesTheOldOne(boolean busy)
      throws Exception {
    awaitStart();
    AtomicBoolean over = new AtomicBoolean();
    Scheduler old = two();
    try (Scheduler target = two()) {
      for (int i = 0; i < 2 && busy; i++) { // the old workers run other slices after the move
        old.go(
            FiberOptions.named("busy").onThread(i),
            () -> {
              while (!over.get()) {
                Fiber.yield();
              }
            });
      }
      Fiber<Scheduler> moves =
          old.go(
              () -> {
                computeForLong();
                Fiber.yield();
                computeForLong();
                Fiber.switchTo(target);
                return self().scheduler();
              });
      assertThat(moves.join()).isSameAs(target);
      over.set(true);
      eventually("the old scheduler has no fiber left", () -> old.stats().running() == 0);
      old.stop();
    } finally {
      over.set(true);
    }
  }

  @Test
  void aFiberThatIsApartRunsOnTheThreadToWhichScheduleBindsIt() throws Exception {
    CountDownLatch apart = new CountDownLatch(1);
    try (Scheduler scheduler = two()) {
      Fiber<List<Integer>> fiber =
          scheduler.go(
              () -> {
                becomeApart();
                apart.countDown();
                Fiber.suspend();
                int first = Fiber.threadIndex();
                Fiber.yield();
                return List.of(first, Fiber.threadIndex(), scheduler.stats().apart());
              });
      apart.await();
      Eventually.waits(fiber);
      scheduler.schedule(fiber, 1);
      assertThat(fiber.join()).as("thread, thread, fibers apart").containsExactly(1, 1, 0);
    }
  }

  /** A slice that fails, and the log for its report too, as both may without memory. */
  @Test
  void aFailureAroundASliceOfAFiberThatIsApartLosesNoFiber() throws Exception {
    CountDownLatch apart = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    try (LogCapture _ = new LogCapture();
        Scheduler scheduler = two()) {
      Fiber<String> fiber =
          scheduler.go(
              () -> {
                becomeApart();
                apart.countDown();
                Fiber.suspend();
                return "goes on";
              });
      apart.await();
      Eventually.waits(fiber);
      Thread own = fiber.thread();
      Field thread = FiberThread.class.getDeclaredField("thread");
      thread.setAccessible(true);
      try (FailingLog log = new FailingLog(() -> thread.set(fiber, own))) {
        occupyComputingThreads(release);
        scheduler.schedule(fiber);
        thread.set(fiber, new Thread("of no fiber"));
        release.countDown();
        assertThat(fiber.join(Duration.ofSeconds(30))).isEqualTo("goes on");
        assertThat(log.hasFailed()).isTrue();
      }
    } finally {
      release.countDown();
    }
  }

  private static void occupyComputingThreads(CountDownLatch release) throws Exception {
    Field field = ComputingThreads.class.getDeclaredField("POOL");
    field.setAccessible(true);
    Executor pool = (Executor) field.get(null);
    int threads = Runtime.getRuntime().availableProcessors();
    CountDownLatch occupied = new CountDownLatch(threads);
    for (int i = 0; i < threads; i++) {
      pool.execute(
          () -> {
            occupied.countDown();
            try {
              release.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
    }
    occupied.await();
  }

  @FunctionalInterface
  private interface Action {
    void run() throws Exception;
  }

  /** Has no memory for the first entry; calls an action before it says so. */
  private static final class FailingLog extends Handler implements AutoCloseable {
    private final Logger logger = Logger.getLogger("dev.weft");
    private final Action first;
    private final AtomicBoolean failed = new AtomicBoolean();

    FailingLog(Action first) {
      this.first = first;
      logger.addHandler(this);
    }

    @Override
    public void publish(LogRecord record) {
      if (failed.compareAndSet(false, true)) {
        try {
          first.run();
        } catch (Exception e) {
          throw new AssertionError(e);
        }
        throw new OutOfMemoryError("no memory for the log");
      }
    }

    boolean hasFailed() {
      return failed.get();
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
      logger.removeHandler(this);
    }
  }
}
