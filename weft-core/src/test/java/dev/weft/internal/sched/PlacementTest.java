package dev.weft.internal.sched;

import static dev.weft.Eventually.eventually;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Busy;
import dev.weft.Eventually;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.SchedulerStats;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Where a fiber goes that a plain thread starts or wakes, under work stealing on two threads. */
@Feature("S24")
class PlacementTest {
  /** How often to begin again if the test was slower than the sentry or the watchdog. */
  private static final int ATTEMPTS = 20;

  private static final int NEW_FIBERS = 4;

  /** A slice for which the wake-up of another worker pays. */
  private static final Duration LONG = Duration.ofNanos(100_000);

  @Test
  void aNewFiberGoesToAnAwakeWorkerThatIsAboutToBeFreeRatherThanToASleepingOne() throws Exception {
    List<Integer> places =
        placesOfNewFibers(
            pair -> {
              pair.makeSlicesShort(0);
              pair.hold(0);
            });
    assertThat(places).containsExactly(0, 0, 0, 0);
  }

  @Test
  void aNewFiberGoesToASleepingWorkerIfTheAwakeOneHasLongSlices() throws Exception {
    List<Integer> places =
        placesOfNewFibers(
            pair -> {
              pair.makeSlicesLong(0);
              pair.hold(0);
            });
    assertThat(places).containsExactly(1, 1, 1, 1);
  }

  @Test
  void aNewFiberGoesToASleepingWorkerIfAFiberWaitsAtTheAwakeOne() throws Exception {
    List<Integer> places =
        placesOfNewFibers(
            pair -> {
              pair.hold(0);
              pair.letOneWaitAt(0);
            });
    assertThat(places).containsExactly(1, 1, 1, 1);
  }

  @Test
  void newFibersAreDealtInTurnIfAllWorkersAreBusy() throws Exception {
    List<Integer> places =
        placesOfNewFibers(
            pair -> {
              pair.hold(0);
              pair.hold(1);
              pair.letOneWaitAt(0);
              pair.letOneWaitAt(1);
            });
    assertThat(places).isIn(List.of(0, 1, 0, 1), List.of(1, 0, 1, 0));
  }

  /** Under the old rule it waited for the sentry, which counts as stealing. */
  @Test
  void aFiberThatAPlainThreadWakesLeavesItsBusyHomeForASleepingWorker() throws Exception {
    try (Pair pair = new Pair()) {
      Fiber<Integer> fiber = pair.waitingFiber();
      int home = core(fiber).home.index;
      pair.makeSlicesLong(home);
      pair.hold(home);
      long stolenBefore = pair.stolen(); // the first slice, from a worker that did not serve yet
      pair.scheduler.schedule(fiber);

      assertThat(fiber.join()).isEqualTo(1 - home);
      assertThat(pair.stolen()).as("fibers taken over, now by the sentry").isEqualTo(stolenBefore);
    }
  }

  @Test
  void aFiberThatAPlainThreadWakesStaysWithAnAwakeHomeThatIsAboutToBeFree() throws Exception {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try (Pair pair = new Pair()) {
        Fiber<Integer> fiber = pair.waitingFiber();
        Worker home = core(fiber).home;
        pair.makeSlicesShort(home.index);
        pair.hold(home.index);
        core(pair.scheduler).placement.leaveBusyHome(core(fiber));
        Worker after = core(fiber).home;
        if (pair.isAsSetUp()) {
          assertThat(after).isSameAs(home);
          return;
        }
      }
    }
    throw new AssertionError("the test was too slow in each of " + ATTEMPTS + " attempts");
  }

  @FunctionalInterface
  private interface SetUp {
    void on(Pair pair) throws Exception;
  }

  /** Returns to which workers some new fibers of this plain thread would go. */
  private static List<Integer> placesOfNewFibers(SetUp setUp) throws Exception {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try (Pair pair = new Pair()) {
        setUp.on(pair);
        List<Integer> places = new ArrayList<>();
        for (int i = 0; i < NEW_FIBERS; i++) {
          places.add(core(pair.scheduler).placement.forNew(null).index);
        }
        if (pair.isAsSetUp()) {
          return places;
        }
      }
    }
    throw new AssertionError("the test was too slow in each of " + ATTEMPTS + " attempts");
  }

  /** A scheduler of two threads, which a test may hold. */
  private static final class Pair implements AutoCloseable {
    final Scheduler scheduler = Scheduler.builder().threads(2).build().start();
    private final AtomicBoolean release = new AtomicBoolean();
    private final List<Worker> withWaiting = new ArrayList<>();
    private final List<Worker> withShortSlices = new ArrayList<>();

    Worker worker(int index) {
      return core(scheduler).worker(index);
    }

    /** Runs slices on a worker until the worker takes them for short; the first ones are not. */
    void makeSlicesShort(int index) throws Exception {
      scheduler
          .go(
              FiberOptions.named("short slices").onThread(index),
              () -> {
                for (int i = 0; i < 1_000 || worker(index).hasLongSlices(); i++) {
                  Fiber.yield();
                }
              })
          .join();
      eventually("both sleep", () -> worker(0).isAsleep() && worker(1).isAsleep());
      withShortSlices.add(worker(index));
    }

    /** Runs slices on a worker until the worker takes them for long. */
    void makeSlicesLong(int index) throws Exception {
      scheduler
          .go(
              FiberOptions.named("long slices").onThread(index),
              () -> {
                while (!worker(index).hasLongSlices()) {
                  Busy.compute(LONG);
                  Fiber.yield();
                }
                Busy.compute(LONG); // or the worker would take them for short again
              })
          .join();
      eventually("both sleep", () -> worker(0).isAsleep() && worker(1).isAsleep());
      assertThat(worker(index).hasLongSlices()).isTrue();
    }

    /** Starts a fiber that waits; returns on which thread it goes on. */
    Fiber<Integer> waitingFiber() {
      Fiber<Integer> fiber =
          scheduler.go(
              () -> {
                Fiber.suspend();
                return Fiber.threadIndex();
              });
      Eventually.waits(fiber);
      return fiber;
    }

    long stolen() {
      return scheduler.stats().threads().stream().mapToLong(SchedulerStats.OfThread::stolen).sum();
    }

    /** Occupies a worker with one slice. */
    void hold(int index) throws Exception {
      Worker other = worker(1 - index);
      eventually("the other sleeps, or is held", () -> other.isAsleep() || other.running() != 0);
      CountDownLatch begun = new CountDownLatch(1);
      scheduler.go(
          FiberOptions.named("holder").onThread(index),
          () -> {
            begun.countDown();
            while (!release.get()) {
              Thread.onSpinWait();
            }
          });
      begun.await();
    }

    /** Puts a fiber into the inbox of a held worker; no other worker may take it. */
    void letOneWaitAt(int index) {
      scheduler.go(FiberOptions.named("waits").onThread(index), () -> {});
      withWaiting.add(worker(index));
    }

    /** Returns whether neither the sentry, nor the watchdog, nor a pause has changed the set-up. */
    boolean isAsSetUp() {
      return !worker(0).stuck
          && !worker(1).stuck
          && withWaiting.stream().allMatch(Worker::seemsToHaveWaiting)
          && withShortSlices.stream().noneMatch(Worker::hasLongSlices);
    }

    @Override
    public void close() {
      release.set(true);
      scheduler.stop(Duration.ofSeconds(10));
    }
  }
}
