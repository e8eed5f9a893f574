package dev.weft;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fibers that began on a worker and have not ended, in no order: for dumps, and for those who
 * stop a scheduler. It is arrays, not a linked list: a collector copies a long list of young fibers
 * one by one, waiting for memory at each, and that was half the time of starting a million.
 *
 * <p>Invariants, under the duty lock of its worker: the fibers fill places 0 to size − 1, each
 * knows its place, and who leaves is replaced by the last. The last block may be followed by one
 * empty one, kept so that coming and going at its edge allocates nothing.
 */
final class FiberRegistry {
  private static final int BLOCK_SHIFT = 10;
  private static final int BLOCK = 1 << BLOCK_SHIFT;

  private final ArrayList<@Nullable Fiber<?>[]> blocks = new ArrayList<>();
  private int size;

  void add(Fiber<?> fiber) {
    if (size == blocks.size() * BLOCK) {
      blocks.add(new Fiber<?>[BLOCK]);
    }
    put(fiber, size++);
  }

  void remove(Fiber<?> fiber) {
    int last = --size;
    @Nullable Fiber<?>[] lastBlock = blocks.get(last >> BLOCK_SHIFT);
    Fiber<?> moved = lastBlock[last & (BLOCK - 1)];
    lastBlock[last & (BLOCK - 1)] = null;
    if (moved != fiber && moved != null) {
      put(moved, fiber.registeredPlace);
    }
    if (size <= (blocks.size() - 2) * BLOCK) {
      blocks.removeLast();
    }
  }

  List<Fiber<?>> all() {
    List<Fiber<?>> all = new ArrayList<>(size);
    for (@Nullable Fiber<?>[] block : blocks) {
      for (Fiber<?> fiber : block) {
        if (fiber == null) {
          return all;
        }
        all.add(fiber);
      }
    }
    return all;
  }

  private void put(Fiber<?> fiber, int place) {
    blocks.get(place >> BLOCK_SHIFT)[place & (BLOCK - 1)] = fiber;
    fiber.registeredPlace = place;
  }
}
