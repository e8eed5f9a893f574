package dev.weft.internal.policy;

import dev.weft.Fiber;
import dev.weft.Policy;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Highest priority first, with ageing.
 *
 * <p>Effective priority = priority + waited / {@link #AGEING_NANOS}. All waiting fibers age at the
 * same rate, so the order of two fibers never changes while they wait: a heap on (ready since −
 * priority × ageing) keeps it, smallest first, first in, first out among equals.
 */
public final class PriorityReadyQueue implements Policy.ReadyQueue {
  /** How long a fiber waits to gain one step of priority. */
  private static final long AGEING_NANOS = 10_000_000;

  private record Entry(Fiber<?> fiber, long key, long number) implements Comparable<Entry> {
    @Override
    public int compareTo(Entry other) {
      return key != other.key
          ? Long.compare(key - other.key, 0)
          : Long.compare(number - other.number, 0);
    }
  }

  private final PriorityQueue<Entry> heap = new PriorityQueue<>();
  private long added;

  @Override
  public void add(Fiber<?> fiber, long now) {
    heap.add(new Entry(fiber, now - fiber.priority() * AGEING_NANOS, added++));
  }

  @Override
  public @Nullable Fiber<?> next(long now) {
    Entry first = heap.poll();
    return first == null ? null : first.fiber;
  }

  @Override
  public int size() {
    return heap.size();
  }
}
