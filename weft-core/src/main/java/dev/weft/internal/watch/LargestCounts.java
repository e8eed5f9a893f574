package dev.weft.internal.watch;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Counts things of which there may be very many kinds, and keeps the largest counts in bounded
 * memory: at the limit the smaller half of the kinds is dropped. A kind that comes back begins
 * anew, so a count may be too small, by less than the count of the smallest kind that is kept. (The
 * idea is that of lossy counting: Manku and Motwani, "Approximate Frequency Counts over Data
 * Streams", VLDB 2002.)
 */
final class LargestCounts<K, V extends LargestCounts.Counted> {
  /** What is known of one kind. */
  abstract static class Counted {
    private long count;

    final long count() {
      return count;
    }
  }

  private static final Comparator<Counted> LARGEST_FIRST =
      Comparator.comparingLong(Counted::count).reversed();

  private final Map<K, V> kinds = new HashMap<>();
  private final int most;
  private long dropped;

  LargestCounts(int most) {
    this.most = most;
  }

  /** Counts one thing of a kind, and returns what is known of the kind. */
  V count(K kind, Function<K, V> create) {
    V known = kinds.get(kind);
    if (known == null) {
      if (kinds.size() == most) {
        dropSmaller();
      }
      known = create.apply(kind);
      kinds.put(kind, known);
    }
    ((Counted) known).count++;
    return known;
  }

  private void dropSmaller() {
    List<Map.Entry<K, V>> byCount =
        kinds.entrySet().stream().sorted(Map.Entry.comparingByValue(LARGEST_FIRST)).toList();
    for (Map.Entry<K, V> entry : byCount.subList(most / 2, most)) {
      dropped += entry.getValue().count();
      kinds.remove(entry.getKey());
    }
  }

  /** Returns the kinds, the largest first. */
  List<V> largestFirst(Comparator<V> thenBy) {
    Comparator<V> order = LARGEST_FIRST::compare;
    return kinds.values().stream().sorted(order.thenComparing(thenBy)).toList();
  }

  /** Returns how many things were counted in kinds that have been dropped. */
  long dropped() {
    return dropped;
  }
}
