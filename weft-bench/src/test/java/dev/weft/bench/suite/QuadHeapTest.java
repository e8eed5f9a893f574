package dev.weft.bench.suite;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class QuadHeapTest {
  @Test
  void theRemainingEntriesComeOutInOrder() {
    Random random = new Random(1);
    QuadHeap heap = new QuadHeap();
    List<QuadHeap.Node> nodes = new ArrayList<>();
    List<Long> expected = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      QuadHeap.Node node = new QuadHeap.Node();
      long deadline = random.nextLong(10_000);
      heap.add(node, deadline);
      if (i % 3 == 0) {
        nodes.add(node);
      } else {
        expected.add(deadline);
      }
    }
    for (QuadHeap.Node node : nodes) {
      assertThat(heap.remove(node)).isTrue();
      assertThat(heap.remove(node)).isFalse();
    }
    expected.sort(null);

    List<Long> actual = new ArrayList<>();
    while (heap.nextWake() != Long.MAX_VALUE) {
      long now = heap.nextWake();
      heap.expire(now, node -> actual.add(now));
    }
    assertThat(actual).isEqualTo(expected);
  }
}
