package dev.weft.internal.policy;

import dev.weft.Fiber;
import dev.weft.Policy;
import dev.weft.internal.sched.FiberCore;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Highest response ratio next (Brinch Hansen, 1971): (waited + usual slice) / usual slice.
 *
 * <p>Ratios change while fibers wait, each at its own rate, so a heap cannot keep their order.
 * Instead fibers are in FIFO classes of similar usual slice, a class for each power of two: within
 * a class the oldest fiber has the highest ratio, and only the oldest of each class are compared.
 * The usual slice is a field of the fiber, which takes it along to other workers.
 *
 * <p>Invariant: bit i of occupied is set if and only if class i is not empty.
 */
public final class ResponseRatioQueue implements Policy.ReadyQueue {
  private static final int CLASSES = 48;

  // assumed for a fiber that has not run yet: so long that a flood of new fibers starves no other
  private static final long UNKNOWN_SLICE = 100_000;

  private record Waiting(Fiber<?> fiber, long since) {}

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of generic queues
  private final ArrayDeque<Waiting>[] classes = new ArrayDeque[CLASSES];

  private long occupied;
  private int size;

  @Override
  public void add(Fiber<?> fiber, long now) {
    long usual = ((FiberCore<?>) fiber).usualSlice;
    int i = classOf(usual == 0 ? UNKNOWN_SLICE : usual);
    if (classes[i] == null) {
      classes[i] = new ArrayDeque<>();
    }
    classes[i].add(new Waiting(fiber, now));
    occupied |= 1L << i;
    size++;
  }

  @Override
  public @Nullable Fiber<?> next(long now) {
    if (occupied == 0) {
      return null;
    }
    double highest = Double.NEGATIVE_INFINITY; // a ratio is negative if "now" is before "since"
    int best = -1;
    for (long rest = occupied; rest != 0; rest &= rest - 1) {
      int i = Long.numberOfTrailingZeros(rest);
      double usual = 1L << i;
      double ratio = (now - classes[i].element().since + usual) / usual;
      if (ratio > highest) {
        highest = ratio;
        best = i;
      }
    }
    Fiber<?> fiber = classes[best].remove().fiber;
    if (classes[best].isEmpty()) {
      occupied &= ~(1L << best);
    }
    size--;
    return fiber;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public void ran(Fiber<?> fiber, long nanos) {
    FiberCore<?> core = (FiberCore<?>) fiber;
    long slice = Math.clamp(nanos, 1, Integer.MAX_VALUE);
    long average = (3L * core.usualSlice + slice) / 4;
    core.usualSlice = (int) (core.usualSlice == 0 ? slice : average);
  }

  private static int classOf(long nanos) {
    return Math.min(CLASSES - 1, 63 - Long.numberOfLeadingZeros(nanos));
  }
}
