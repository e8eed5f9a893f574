package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.weft.Weft;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Exploring programs: what is found, what it says, that it is repeated. */
class ExploreTest {
  private static final SimulationOptions POINTS =
      SimulationOptions.seeds(1_000).points("dev.weft.sim.ExploreTest");

  /** A counter that loses updates. */
  private static final class Counter {
    int value;

    void increment() {
      value++;
    }
  }

  private static void losesUpdates(Simulation sim) throws Exception {
    Counter counter = new Counter();
    Thread one = new Thread(counter::increment, "one");
    Thread two = Thread.ofVirtual().name("two").unstarted(counter::increment);
    one.start();
    two.start();
    one.join();
    two.join();
    assertThat(counter.value).isEqualTo(2);
  }

  @Test
  @Feature("V4")
  void aLostUpdateIsFoundAndShrunkToOneSwitch() {
    SimulationResult result = Simulation.explore(POINTS.name("counter"), ExploreTest::losesUpdates);
    FailureReport report = result.failure().orElseThrow();
    assertThat(report.cause()).isInstanceOf(AssertionError.class);
    assertThat(report.schedule().switches()).hasSize(1);
    assertThat(report.text())
        .startsWith("counter fails with seed " + report.seed() + ":")
        .contains("replay = \"seed:" + report.seed() + "\"")
        .containsPattern(
            "one +stops before it writes ExploreTest.Counter.value +ExploreTest.java:\\d+");
  }

  @Test
  @Feature("V4")
  void aSeedAndAScheduleReplayTheFailure() {
    FailureReport found =
        Simulation.explore(POINTS, ExploreTest::losesUpdates).failure().orElseThrow();
    FailureReport bySeed =
        Simulation.explore(
                SimulationOptions.replay("seed:" + found.seed()).points(POINTS.points().getFirst()),
                ExploreTest::losesUpdates)
            .failure()
            .orElseThrow();
    assertThat(bySeed.seed()).isEqualTo(found.seed());
    assertThat(bySeed.text().lines().skip(3)).isEqualTo(found.text().lines().skip(3).toList());
    FailureReport bySchedule =
        Simulation.explore(
                SimulationOptions.replay(found.schedule().toString())
                    .points(POINTS.points().getFirst()),
                ExploreTest::losesUpdates)
            .failure()
            .orElseThrow();
    assertThat(bySchedule.schedule()).isEqualTo(found.schedule());
  }

  /**
   * Two counters; a schedule may lose an update of one of them, or, with more switches, of both.
   */
  private static final class Pair {
    int left;
    int right;

    void increment() {
      left++;
      right++;
    }
  }

  private static void losesOneOrBoth(Simulation sim) throws Exception {
    Pair pair = new Pair();
    Thread one = new Thread(pair::increment, "one");
    Thread two = new Thread(pair::increment, "two");
    one.start();
    two.start();
    one.join();
    two.join();
    checkBoth(pair);
    assertEquals(2, pair.left, "the left one");
    assertEquals(2, pair.right, "the right one");
  }

  private static void checkBoth(Pair pair) {
    if (pair.left == 1) {
      assertEquals(2, pair.right, "both");
    }
  }

  @Test
  @Feature("V4")
  void aShrunkScheduleFailsTheSameAssertion() {
    SimulationOptions options = SimulationOptions.seeds(1).points(POINTS.points().getFirst());
    long seed =
        LongStream.range(1, 3_000)
            .filter(each -> losesBoth(options.firstSeed(each).shrinks(false)).isPresent())
            .findFirst()
            .orElseThrow();
    FailureReport report = losesBoth(options.firstSeed(seed)).orElseThrow();
    assertThat(report.schedule().switches()).hasSizeLessThanOrEqualTo(report.switchesFound());
    assertThat(
            losesBoth(
                SimulationOptions.replay(report.schedule().toString())
                    .points(POINTS.points().getFirst())))
        .isPresent();
  }

  private static Optional<FailureReport> losesBoth(SimulationOptions options) {
    return Simulation.explore(options, ExploreTest::losesOneOrBoth)
        .failure()
        .filter(report -> report.message().startsWith("both"));
  }

  @Test
  void shrinkingEndsWhenItsTimeIsUp() {
    FailureReport report =
        Simulation.explore(
                POINTS,
                ExploreTest::losesUpdates,
                (runs, schedules, digest) -> {},
                new Explorer.Limits(Explorer.Limits.USUAL.patience(), Duration.ZERO))
            .failure()
            .orElseThrow();
    assertThat(report.text()).contains("shrunk in 0 runs").contains("stops before it");
    assertThat(report.schedule().switches()).hasSize(report.switchesFound());
  }

  @Test
  void aCorrectProgramPassesAllSeeds() {
    SimulationResult result =
        Simulation.explore(
            POINTS,
            sim -> {
              AtomicInteger counter = new AtomicInteger();
              Thread one = new Thread(counter::incrementAndGet);
              Thread two = new Thread(counter::incrementAndGet);
              one.start();
              two.start();
              one.join();
              two.join();
              assertThat(counter).hasValue(2);
            });
    result.check();
    assertThat(result.runs()).isEqualTo(1_001);
    assertThat(result.schedules()).isBetween(10L, 1_000L);
  }

  @Test
  void aDeadlockOfMonitorsIsReportedWithItsFibers() {
    SimulationResult result =
        Simulation.explore(
            POINTS,
            sim -> {
              Object left = new Object();
              Object right = new Object();
              Thread one = new Thread(() -> nest(left, right), "one");
              Thread two = new Thread(() -> nest(right, left), "two");
              one.start();
              two.start();
              one.join();
              two.join();
            });
    FailureReport report = result.failure().orElseThrow();
    assertThat(report.cause()).isInstanceOf(SimulationFailure.Deadlock.class);
    assertThat(report.cause()).hasMessageContaining("one waits").hasMessageContaining("two waits");
    assertThat(report.schedule().switches()).hasSize(1);
  }

  @SuppressWarnings("EmptyBlock")
  private static void nest(Object outer, Object inner) {
    synchronized (outer) {
      synchronized (inner) {
        assertThat(outer).isNotNull();
      }
    }
  }

  @Test
  @Feature("V5")
  void executorsAndPlainThreadsRunInside() {
    Simulation.explore(
            POINTS,
            sim -> {
              List<Future<Integer>> results = new ArrayList<>();
              try (ExecutorService pool = Executors.newFixedThreadPool(3);
                  ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < 4; i++) {
                  int number = i;
                  results.add((i % 2 == 0 ? pool : virtual).submit(() -> slowly(number)));
                }
              }
              int sum = 0;
              for (Future<Integer> result : results) {
                sum += result.get();
              }
              assertThat(sum).isEqualTo(6);
              Thread sleeper = new Thread(() -> slowly(100_000));
              sleeper.start();
              assertThat(sleeper.isAlive()).isTrue();
              assertThat(sleeper.join(Duration.ofSeconds(1))).isFalse();
              sleeper.interrupt();
              sleeper.join();
              assertThat(sleeper.getState()).isEqualTo(Thread.State.TERMINATED);
              assertThat(sim.elapsed().toMillis()).isEqualTo(1_003);
            })
        .check();
  }

  private static int slowly(int number) {
    try {
      Thread.sleep(number);
    } catch (InterruptedException e) {
      return -1;
    }
    return number;
  }

  @Test
  void aRunWithoutEndIsReported() {
    SimulationResult result =
        Simulation.explore(
            POINTS,
            sim -> {
              Counter counter = new Counter();
              while (counter.value >= 0) {
                Thread.onSpinWait();
              }
            });
    assertThat(result.failure().orElseThrow().cause())
        .isInstanceOf(SimulationFailure.Endless.class);
  }

  @Test
  void aSpinningFiberLetsOthersRun() {
    Simulation.explore(
            POINTS,
            sim -> {
              Counter counter = new Counter();
              Thread other = new Thread(counter::increment);
              other.start();
              while (counter.value == 0) {
                assertThat(other.getName()).isNotNull();
              }
              other.join();
            })
        .check();
  }

  @Test
  @Feature("V2")
  void aProgramThatDiffersFromRunToRunIsReported() {
    AtomicInteger runs = new AtomicInteger();
    assertThatThrownBy(
            () ->
                Simulation.explore(
                    POINTS,
                    sim -> {
                      Thread other = new Thread(() -> slowly(1), "other");
                      other.start();
                      if (runs.incrementAndGet() % 3 == 0) {
                        slowly(2);
                      }
                      other.join();
                    }))
        .isInstanceOf(SimulationFailure.NotDeterministic.class)
        .hasMessageContaining("The first choice that differs");
  }

  @Test
  @Feature("V2")
  void aRunThatFailsOnlyWhenItIsRepeatedIsReported() {
    Set<Long> seen = new HashSet<>(Set.of(0L));
    assertThatThrownBy(
            () ->
                Simulation.explore(
                    POINTS,
                    sim -> {
                      if (!seen.add(sim.seed()) && sim.seed() != 0) {
                        throw new IllegalStateException("only when repeated");
                      }
                    }))
        .isInstanceOf(SimulationFailure.NotDeterministic.class)
        .hasMessageContaining("only when repeated");
  }

  @Test
  @Feature("V2")
  void aFirstRunOfAllThatFailsAloneIsReported() {
    AtomicInteger runs = new AtomicInteger();
    assertThatThrownBy(
            () ->
                Simulation.explore(
                    POINTS,
                    sim -> {
                      if (runs.incrementAndGet() == 1) {
                        throw new IllegalStateException("only the first");
                      }
                    }))
        .isInstanceOf(SimulationFailure.NotDeterministic.class)
        .hasMessageContaining("the first run of all has failed")
        .hasRootCauseMessage("only the first");
  }

  @Test
  void aFailureInAnotherFiberFailsTheRun() {
    SimulationResult result =
        Simulation.explore(
            POINTS,
            sim -> {
              Thread other =
                  new Thread(
                      () -> {
                        throw new IllegalStateException("in the other");
                      });
              other.start();
              other.join();
            });
    assertThat(result.failure().orElseThrow().cause()).hasMessage("in the other");
  }

  /** The failures are kept by fiber, whose identity hash code differs from run to run. */
  @Test
  @Feature("V2")
  void ofSeveralFailuresTheFirstFibersFailsTheRun() {
    for (int i = 0; i < 5; i++) {
      SimulationResult result =
          Simulation.explore(
              SimulationOptions.seeds(1),
              sim -> {
                for (int k = 0; k < 9; k++) {
                  int number = k;
                  Weft.go(
                      () -> {
                        throw new IllegalStateException("fiber " + number);
                      });
                }
              });
      assertThat(result.failure().orElseThrow().cause()).hasMessage("fiber 0");
    }
  }
}
