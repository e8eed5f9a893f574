package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * Two producers write to a ring that is meant for one: both write the same slot.
 *
 * <p>After SCTBench concurrent-software-benchmarks/circular_buffer_bad.
 */
final class CircularBuffer {
  static final KnownBug BUG =
      KnownBug.of(
          CircularBuffer.class,
          "SCTBench concurrent-software-benchmarks/circular_buffer_bad",
          Kind.ATOMICITY,
          () -> run(new Ring()),
          () -> run(new FixedRing()));

  private CircularBuffer() {}

  private static void run(Ring ring) throws Exception {
    Together.run(ring, r -> r.put(1), r -> r.put(2));
    Check.equal(3, ring.take() + ring.take(), "sum of the values");
  }

  private static class Ring {
    private final int[] slots = new int[4];
    private int head;
    private int tail;

    void put(int value) {
      slots[tail] = value;
      tail = (tail + 1) % slots.length;
    }

    int take() {
      int value = slots[head];
      head = (head + 1) % slots.length;
      return value;
    }
  }

  private static final class FixedRing extends Ring {
    @Override
    synchronized void put(int value) {
      super.put(value);
    }
  }
}
