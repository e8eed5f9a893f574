package dev.weft.internal.sync;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The table of hold counts behaves as a map does, at every size. */
class HoldCountsTest {
  private final HoldCounts counts = new HoldCounts();

  private static List<Thread> threads(int count) {
    return IntStream.range(0, count).mapToObj(i -> Thread.ofVirtual().unstarted(() -> {})).toList();
  }

  @Test
  void holdCountsAgreeWithAMap() {
    Random random = new Random(7);
    for (int size : new int[] {1, 3, 4, 5, 40, 2_000}) {
      List<Thread> threads = threads(size);
      Map<Thread, Integer> expected = new HashMap<>();
      for (int i = 0; i < 40_000; i++) {
        Thread thread = threads.get(random.nextInt(size));
        if (random.nextInt(20_000) > i) { // grows first, then shrinks
          counts.add(thread);
          expected.merge(thread, 1, Integer::sum);
        } else {
          assertThat(counts.remove(thread)).isEqualTo(expected.containsKey(thread));
          expected.computeIfPresent(thread, (_, count) -> count == 1 ? null : count - 1);
        }
        assertThat(counts.isEmpty()).isEqualTo(expected.isEmpty());
      }
      for (Thread thread : threads) {
        for (int holds = expected.getOrDefault(thread, 0); holds > 0; holds--) {
          assertThat(counts.remove(thread)).isTrue();
        }
        assertThat(counts.remove(thread)).isFalse();
      }
      assertThat(counts.isEmpty()).isTrue();
    }
  }
}
