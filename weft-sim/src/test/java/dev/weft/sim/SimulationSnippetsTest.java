package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The snippets of the Javadoc. */
class SimulationSnippetsTest {
  /** A shop that sells more than it has. */
  static final class Shop {
    private int stock = 1;
    private int sold;

    void sell() {
      if (stock > 0) {
        stock--;
        sold++;
      }
    }
  }

  @Test
  void exploreFindsTheOverbooking() {
    assertThatThrownBy(SimulationSnippetsTest::explore)
        .isInstanceOf(SimulationFailure.Found.class)
        .hasMessageContaining("sold 2 of 1");
  }

  private static void explore() {
    // @start region="explore"
    SimulationOptions options = SimulationOptions.seeds(1_000).points("dev.weft.sim");
    SimulationResult result =
        Simulation.explore(
            options,
            simulation -> {
              Shop shop = new Shop();
              Thread other = Thread.startVirtualThread(shop::sell);
              shop.sell();
              other.join();
              if (shop.sold > 1) {
                throw new AssertionError("sold " + shop.sold + " of 1");
              }
            });
    result.check(); // throws with the report: one of both stops before it writes Shop.stock
    // @end
  }

  // @start region="annotation"
  @WeftSimulation(seeds = 500, points = "dev.weft.sim")
  void countsBoth(Simulation simulation) throws Exception {
    AtomicInteger count = new AtomicInteger();
    Thread other = new Thread(count::incrementAndGet);
    other.start();
    Thread.sleep(60_000); // takes no time
    count.incrementAndGet();
    other.join();
    assertThat(count).hasValue(2);
    assertThat(simulation.elapsed()).hasMinutes(1);
  }
  // @end
}
