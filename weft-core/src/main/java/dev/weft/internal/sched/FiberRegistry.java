package dev.weft.internal.sched;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The fibers that began on a worker and have not ended, in no order: for dumps, for stopping a
 * scheduler, for leak checks. It is arrays, not a linked list: a garbage collector copies a long
 * list of young fibers one by one, with a cache miss at each, and that was half the time of
 * starting a million.
 *
 * <p>Guarded by the duty lock of its worker: the field {@code WorkerQueue.fibers} carries the
 * annotation, so this class need not know the lock. Invariants, whenever that lock is free: the
 * fibers fill places 0 to size − 1, each knows its place, and the last fiber takes the place of one
 * that leaves. The last block may be followed by one empty block, kept so that coming and going at
 * its edge allocates nothing. During a leak check a place may hold a {@link WeakPlace} instead of
 * its fiber; such a place knows where it is, since its fiber may be out of reach when it is moved.
 */
public final class FiberRegistry {
  private static final int BLOCK_SHIFT = 10;
  private static final int BLOCK = 1 << BLOCK_SHIFT;

  /** A place that holds its fiber weakly. */
  public static final class WeakPlace extends WeakReference<FiberCore<?>> {
    public final Worker worker;
    private int place;

    private WeakPlace(FiberCore<?> fiber, Worker worker) {
      super(fiber);
      this.worker = worker;
      this.place = fiber.registeredPlace;
    }
  }

  private final ArrayList<@Nullable Object[]> blocks = new ArrayList<>();
  private int size;

  void add(FiberCore<?> fiber) {
    if (size == blocks.size() * BLOCK) {
      blocks.add(new Object[BLOCK]);
    }
    put(fiber, size++);
  }

  void remove(FiberCore<?> fiber) {
    int last = --size;
    @Nullable Object[] lastBlock = blocks.get(last >> BLOCK_SHIFT);
    Object moved = lastBlock[last & (BLOCK - 1)];
    lastBlock[last & (BLOCK - 1)] = null;
    if (last != fiber.registeredPlace && moved != null) {
      put(moved, fiber.registeredPlace);
    }
    if (size <= (blocks.size() - 2) * BLOCK) {
      blocks.removeLast();
    }
  }

  int size() {
    return size;
  }

  /**
   * Copies at most so many places from one on, for {@link #fibersIn}; fewer at the end of the
   * registry. It looks at no fiber: each would be a cache miss under the duty lock, and the worker
   * waits for that lock.
   */
  @Nullable Object[] copy(int from, int most) {
    int end = Math.min(size, from + most);
    @Nullable Object[] places = new @Nullable Object[Math.max(0, end - from)];
    for (int i = from; i < end; ) {
      int inBlock = i & (BLOCK - 1);
      int length = Math.min(BLOCK - inBlock, end - i);
      System.arraycopy(blocks.get(i >> BLOCK_SHIFT), inBlock, places, i - from, length);
      i += length;
    }
    return places;
  }

  /** Returns the fibers in copied places; called without the lock. */
  static List<FiberCore<?>> fibersIn(@Nullable Object[] places) {
    List<FiberCore<?>> found = new ArrayList<>(places.length);
    for (Object place : places) {
      FiberCore<?> fiber = fiberOf(place);
      if (fiber != null) {
        found.add(fiber);
      }
    }
    return found;
  }

  /** Makes the probe of a fiber that is held weakly. */
  public interface Probes {
    LeakProbe of(FiberCore<?> fiber, WeakPlace place);
  }

  /**
   * Holds the chosen fibers weakly from now on, each with a probe that shows if it is unreachable.
   *
   * @param worker the worker that this registry belongs to
   */
  List<WeakPlace> weaken(Worker worker, Set<FiberCore<?>> chosen, Probes probes) {
    List<WeakPlace> weak = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      if (at(i) instanceof FiberCore<?> fiber && chosen.contains(fiber)) {
        WeakPlace place = new WeakPlace(fiber, worker);
        if (fiber.hold(probes.of(fiber, place))) {
          put(place, i);
          weak.add(place);
        }
      }
    }
    return weak;
  }

  /** Holds a fiber as before; returns false if it has ended meanwhile and been removed. */
  boolean strengthen(FiberCore<?> fiber, WeakPlace place) {
    fiber.dropProbe();
    boolean held = place.place < size && at(place.place) == place;
    if (held) {
      put(fiber, place.place);
    }
    return held;
  }

  private @Nullable Object at(int place) {
    return blocks.get(place >> BLOCK_SHIFT)[place & (BLOCK - 1)];
  }

  private static @Nullable FiberCore<?> fiberOf(@Nullable Object held) {
    return held instanceof WeakPlace weak ? weak.get() : (FiberCore<?>) held;
  }

  private void put(Object held, int place) {
    blocks.get(place >> BLOCK_SHIFT)[place & (BLOCK - 1)] = held;
    if (held instanceof WeakPlace weak) {
      weak.place = place;
    }
    FiberCore<?> fiber = fiberOf(held);
    if (fiber != null) {
      fiber.registeredPlace = place;
    }
  }
}
