package dev.weft.internal.policy;

import dev.weft.Fiber;
import dev.weft.Policy;
import java.util.ArrayDeque;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Highest response ratio next: (waited + usual slice) / usual slice.
 *
 * <p>Ratios change while fibers wait, each at its own rate, so no heap keeps their order. Instead
 * fibers are kept first come first served in classes of like usual slice, a class for each power of
 * two: within a class the oldest has the highest ratio, and only the oldest of each class are
 * compared.
 */
public final class ResponseRatioQueue implements Policy.ReadyQueue {
  private static final int CLASSES = 48;

  // taken for a fiber that has not run yet: long enough that a flood of new ones starves nobody
  private static final long UNKNOWN_SLICE = 100_000;

  private record Waiting(Fiber<?> fiber, long since) {}

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of generic queues
  private final ArrayDeque<Waiting>[] classes = new ArrayDeque[CLASSES];

  // running average of the slices of each fiber, in nanoseconds
  private final WeakHashMap<Fiber<?>, Long> usualSlices = new WeakHashMap<>();
  private int size;

  /** Creates an empty queue. */
  public ResponseRatioQueue() {
    for (int i = 0; i < CLASSES; i++) {
      classes[i] = new ArrayDeque<>();
    }
  }

  @Override
  public void add(Fiber<?> fiber, long now) {
    long usual = usualSlices.getOrDefault(fiber, UNKNOWN_SLICE);
    classes[classOf(usual)].add(new Waiting(fiber, now));
    size++;
  }

  @Override
  public @Nullable Fiber<?> next(long now) {
    double highest = -1;
    ArrayDeque<Waiting> best = null;
    for (int i = 0; i < CLASSES; i++) {
      Waiting oldest = classes[i].peek();
      if (oldest != null) {
        double usual = 1L << i;
        double ratio = (now - oldest.since + usual) / usual;
        if (ratio > highest) {
          highest = ratio;
          best = classes[i];
        }
      }
    }
    if (best == null) {
      return null;
    }
    size--;
    return best.remove().fiber;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public void ran(Fiber<?> fiber, long nanos) {
    usualSlices.merge(fiber, Math.max(1, nanos), (old, slice) -> (3 * old + slice) / 4);
  }

  private static int classOf(long nanos) {
    return Math.min(CLASSES - 1, 63 - Long.numberOfLeadingZeros(nanos));
  }
}
