package dev.weft.internal.sched;

import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Body;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The list of a worker's fibers, compared with a list of the JDK's. */
@Feature("S18")
class FiberRegistryTest {
  private static final long SEED = 7;

  private final Scheduler scheduler = Scheduler.builder().threads(1).build();
  private final FiberRegistry registry = new FiberRegistry();
  private final List<FiberCore<?>> expected = new ArrayList<>();

  @Test
  void holdsTheAddedFibersThatWereNotRemovedOverManyBlocks() {
    Random random = new Random(SEED);
    for (int phase = 0; phase < 6; phase++) {
      int likelyToGrow = phase % 2 == 0 ? 90 : 10;
      for (int i = 0; i < 5_000; i++) {
        if (expected.isEmpty() || random.nextInt(100) < likelyToGrow) {
          come();
        } else {
          go(random.nextInt(expected.size()));
        }
      }
      assertThat(FiberRegistry.fibersIn(registry.copy(0, registry.size())))
          .containsExactlyInAnyOrderElementsOf(expected);
    }
    while (!expected.isEmpty()) {
      go(expected.size() - 1);
    }
    assertThat(FiberRegistry.fibersIn(registry.copy(0, registry.size()))).isEmpty();
  }

  private void come() {
    FiberCore<Void> fiber =
        new FiberCore<>(core(scheduler), SchedulerCore.DEFAULT_OPTIONS, (Body) () -> {});
    registry.add(fiber);
    expected.add(fiber);
  }

  private void go(int index) {
    FiberCore<?> last = expected.removeLast();
    FiberCore<?> gone = index == expected.size() ? last : expected.set(index, last);
    registry.remove(gone);
  }
}
