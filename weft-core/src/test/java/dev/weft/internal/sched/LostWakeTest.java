package dev.weft.internal.sched;

import static dev.weft.Eventually.eventually;
import static dev.weft.internal.sched.Cores.awaitSleep;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Body;
import dev.weft.Busy;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.LogCapture;
import dev.weft.Scheduler;
import dev.weft.Scope;
import dev.weft.Weft;
import dev.weft.internal.Faults;
import dev.weft.internal.poller.CallMemory;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/**
 * A fiber that moves to another worker while it starts a fiber: code that read the worker before
 * the move would queue the new fiber on a sleeping worker.
 */
@Feature({"S1", "S24"})
@SuppressWarnings("LockNotBeforeTry") // nothing can fail in between
class LostWakeTest {
  private static final int ROUNDS = 8;

  /** Computes while it holds the scope's lock, so that the opener has to wait for it in go(). */
  private static final class SlowJoiner implements Scope.Joiner<Void> {
    final AtomicBoolean inside = new AtomicBoolean();

    @Override
    public boolean onComplete(Fiber<?> fiber) {
      inside.set(true);
      Busy.compute(Duration.ofMillis(5));
      return false;
    }

    @Override
    public Void result() {
      return null;
    }
  }

  @Test
  void anOpenerThatMovesInsideGoLosesNoFiber() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
        CountDownLatch done = new CountDownLatch(1);
        scheduler.go(
            () -> {
              SlowJoiner joiner = new SlowJoiner();
              try (Scope scope = Scope.open(joiner)) {
                if (Fiber.threadIndex() == 0) {
                  Weft.go(() -> {}); // so that the next fiber is placed on the other worker
                }
                scope.go(() -> {});
                while (!joiner.inside.get()) {
                  Thread.onSpinWait();
                }
                scope.go(() -> {}); // parks: the other worker holds the lock of the scope
                scope.join();
              }
              done.countDown();
            });
        assertThat(done.await(20, TimeUnit.SECONDS)).as("round " + round).isTrue();
        assertThat(scheduler.stats().rescues()).isZero();
      }
    }
  }

  @Test
  void aThreadLocalThatParksWhileItIsInheritedLosesNoFiber() throws Exception {
    ReentrantLock lock = new ReentrantLock();
    InheritableThreadLocal<String> local =
        new InheritableThreadLocal<>() {
          @Override
          protected String childValue(String parent) {
            lock.lock(); // parks the fiber that calls go()
            lock.unlock();
            return parent;
          }
        };
    for (int round = 0; round < ROUNDS; round++) {
      try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
        CountDownLatch locked = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(2);
        scheduler.go(
            FiberOptions.named("holder").onThread(1),
            () -> {
              lock.lock();
              locked.countDown();
              Busy.compute(Duration.ofMillis(5));
              lock.unlock();
            });
        scheduler.go(
            () -> {
              locked.await();
              local.set("inherited");
              Weft.go(done::countDown);
              Weft.go(done::countDown);
            });
        assertThat(done.await(20, TimeUnit.SECONDS)).as("round " + round).isTrue();
        assertThat(scheduler.stats().rescues()).isZero();
      }
    }
  }

  private static void putReadyWithoutWaking(Worker worker, FiberCore<?> fiber) {
    worker.lock();
    try {
      worker.putReady(fiber, System.nanoTime());
    } finally {
      worker.unlock();
    }
  }

  /** Tests the safety net: the test makes a lost wake-up by hand. */
  @Test
  void aWorkerThatSleepsAlthoughAFiberIsReadyIsWokenCountedAndReported() throws Exception {
    try (LogCapture log = new LogCapture();
        Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Worker worker = core(scheduler).worker(0);
      awaitSleep(worker);
      CountDownLatch ran = new CountDownLatch(1);
      FiberCore<Void> lost =
          new FiberCore<>(core(scheduler), SchedulerCore.DEFAULT_OPTIONS, (Body) ran::countDown);
      core(scheduler).countBegun(null);
      putReadyWithoutWaking(worker, lost);
      assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
      eventually(
          "it is reported",
          () -> !log.entries("a fault of Weft's", "slept although fibers were ready").isEmpty());
      assertThat(scheduler.stats().rescues()).isEqualTo(1);
      Faults.forget(1);
    }
  }

  /** As on a busy machine, where the waker loses its core between queuing and waking. */
  @Test
  void aWorkerWithALateWakerIsNotCountedAsRescued() throws Exception {
    for (int attempt = 0; attempt < 20; attempt++) {
      try (Scheduler busy =
              Scheduler.builder().threads(1).build().start(); // makes the watchdog look often
          Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
        busy.go(() -> Busy.compute(Duration.ofMillis(200)));
        Worker worker = core(scheduler).worker(0);
        awaitSleep(worker);
        CountDownLatch ran = new CountDownLatch(1);
        FiberCore<Void> late =
            new FiberCore<>(core(scheduler), SchedulerCore.DEFAULT_OPTIONS, (Body) ran::countDown);
        long start = System.nanoTime();
        core(scheduler).countBegun(null);
        putReadyWithoutWaking(worker, late);
        LockSupport.parkNanos(80_000_000);
        worker.wakeUp();
        boolean tooLate = System.nanoTime() - start > 150_000_000; // this thread lost its core
        assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
        if (!tooLate) {
          assertThat(scheduler.stats().rescues()).isZero();
          return;
        }
        Faults.forget(scheduler.stats().rescues());
      }
    }
  }

  @Test
  void aParkWhereTheWorkerMustNotChangeIsReported() throws Exception {
    try (LogCapture log = new LogCapture();
        Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Worker worker = core(scheduler).worker(0);
      scheduler
          .go(
              () -> {
                Worker.beginNoPark(worker);
                Fiber.sleep(Duration.ofMillis(1));
              })
          .join();
      eventually("reported", () -> !log.entries("must stay on its worker").isEmpty());
      Faults.forget(1);
    }
  }

  @Test
  void callMemoryThatIsCarriedToAnotherWorkerIsNoticed() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      boolean[] mayUse =
          scheduler
              .go(
                  () -> {
                    Fiber.switchTo(0);
                    CallMemory memory = WorkerMemory.here();
                    boolean here = WorkerMemory.beginNoPark(memory);
                    WorkerMemory.endNoPark();
                    Fiber.switchTo(1);
                    return new boolean[] {here, WorkerMemory.beginNoPark(memory)};
                  })
              .join();
      assertThat(mayUse).containsExactly(true, false);
    }
  }
}
