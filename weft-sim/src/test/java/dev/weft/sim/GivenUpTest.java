package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A fiber that cannot be stopped: its exploration is given up, and disturbs no other. */
@Feature("V5")
class GivenUpTest {
  private static final Duration PATIENCE = Duration.ofMillis(200);

  private static SimulationResult explore(int seeds, SimulationBody body) {
    return Simulation.explore(
        SimulationOptions.seeds(seeds),
        body,
        (runs, schedules, digest) -> {},
        new Explorer.Limits(PATIENCE, Duration.ofSeconds(1)));
  }

  /** Computes in the JDK, where no points are: other tests name this package. */
  private static void spinWhile(AtomicBoolean condition) {
    assertThat(Stream.generate(condition::get).allMatch(Boolean::booleanValue)).isFalse();
  }

  @Test
  @Feature({"V1", "V2"})
  void anExplorationThatWasGivenUpDoesNotDisturbTheNext() {
    AtomicBoolean spins = new AtomicBoolean(true);
    AtomicInteger bodies = new AtomicInteger();
    assertThatThrownBy(
            () ->
                explore(
                    1_000_000,
                    sim -> {
                      bodies.incrementAndGet();
                      spinWhile(spins);
                      System.nanoTime();
                    }))
        .isInstanceOf(SimulationFailure.Endless.class)
        .hasMessageContaining("of CPU time without waiting")
        .hasMessageContaining("GivenUpTest.spinWhile");
    spins.set(false); // from now on its thread could run the other seeds

    for (int i = 0; i < 20; i++) {
      SimulationResult result =
          explore(
              500,
              sim -> {
                long begin = System.nanoTime();
                for (int day = 0; day < 10; day++) {
                  Thread.sleep(Duration.ofDays(1));
                }
                assertThat(System.nanoTime() - begin).isEqualTo(Duration.ofDays(10).toNanos());
              });
      result.check();
      assertThat(result.runs()).isEqualTo(501);
    }
    assertThat(bodies).as("runs of the exploration that was given up").hasValue(1);
  }

  // ---- waits outside the simulation ----

  private static final CountDownLatch ENTERED = new CountDownLatch(2);
  private static final CountDownLatch SOON = new CountDownLatch(1);
  private static final CountDownLatch LATE = new CountDownLatch(1);

  /** Classes whose initializers a thread outside takes its time for. */
  private static final class Initialized {
    private static final class Soon {
      static final int VALUE = slowly(SOON);
    }

    private static final class Late {
      static final int VALUE = slowly(LATE);
    }
  }

  private static int slowly(CountDownLatch until) {
    ENTERED.countDown();
    try {
      until.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return 7;
  }

  /** Only CPU time is the program's fault at once: a busy machine may give it none. */
  @Test
  void aRunWithoutCpuTimeGetsMoreTime() throws Exception {
    Simulation.explore(SimulationOptions.seeds(1), sim -> {}).check();
    Thread soon =
        Thread.ofPlatform().daemon().start(() -> assertThat(Initialized.Soon.VALUE).isEqualTo(7));
    Thread late =
        Thread.ofPlatform().daemon().start(() -> assertThat(Initialized.Late.VALUE).isEqualTo(7));
    ENTERED.await();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                Thread.sleep(PATIENCE.multipliedBy(4));
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              SOON.countDown();
            });
    long begin = System.nanoTime();
    explore(1, sim -> assertThat(Initialized.Soon.VALUE).isEqualTo(7)).check();
    assertThat(System.nanoTime() - begin).isGreaterThan(PATIENCE.multipliedBy(2).toNanos());
    soon.join();

    assertThatThrownBy(() -> explore(1, sim -> assertThat(Initialized.Late.VALUE).isEqualTo(7)))
        .isInstanceOf(SimulationFailure.Endless.class)
        .hasMessageContaining("waits for something outside of it");
    LATE.countDown();
    late.join();
  }
}
