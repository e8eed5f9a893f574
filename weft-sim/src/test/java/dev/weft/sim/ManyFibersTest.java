package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A run with more fibers than 16 bits can number. */
class ManyFibersTest {
  private static void wake(Thread fiber) {
    LockSupport.unpark(fiber);
  }

  @Test
  @Feature("V2")
  void fibersBeyondSixtyFiveThousandKeepTheirNumbers() {
    AtomicInteger runs = new AtomicInteger();
    assertThatThrownBy(
            () ->
                Simulation.explore(
                    SimulationOptions.replay("schedule:1/").maxSteps(10_000_000),
                    sim -> {
                      for (int i = 0; i < 70_000; i++) {
                        Thread.ofVirtual().start(() -> {}).join();
                      }
                      List<Thread> parked = new ArrayList<>();
                      for (int i = 0; i < 3; i++) {
                        parked.add(Thread.ofVirtual().start(LockSupport::park));
                      }
                      Thread.sleep(1);
                      int first = runs.incrementAndGet() == 1 ? 0 : 1;
                      wake(parked.get(first));
                      wake(parked.get(first + 1));
                      Thread.sleep(1); // the woken fiber with the lowest number goes on
                      wake(parked.get(first == 0 ? 2 : 0));
                      for (Thread fiber : parked) {
                        fiber.join();
                      }
                    }))
        .isInstanceOf(SimulationFailure.NotDeterministic.class)
        .hasMessageContaining("fiber number 70001 of 2 that")
        .hasMessageContaining("fiber number 70002 of 2 that");
  }
}
