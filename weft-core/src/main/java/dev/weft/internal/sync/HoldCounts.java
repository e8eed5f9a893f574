package dev.weft.internal.sync;

import java.util.function.LongConsumer;

/**
 * How often each thread holds a lock that several threads can hold at a time. A thread is in here
 * only while it holds the lock, and by its id, so nothing here keeps its object alive. The owner
 * guards every call with a lock of its own.
 *
 * <p>It is a hash table with linear probing, as {@link java.util.IdentityHashMap} is, but of two
 * arrays of numbers: neither taking nor releasing allocates, or costs the collector a barrier. A
 * thread local, as {@link java.util.concurrent.locks.ReentrantReadWriteLock} has, was refused: with
 * two readers it takes twice as long.
 */
public final class HoldCounts {
  /*
   * Invariants:
   *   counts[i] > 0  <=>  ids[i] != FREE
   *   2 * size <= ids.length, a power of two, so a probe always meets a free place
   *   no free place lies between an id and its home, the place that its hash asks for
   */
  private static final int FIRST_LENGTH = 8;

  /** A table that had to grow beyond this is let go when it is empty. */
  private static final int KEPT_LENGTH = 1024;

  /** The id of no thread: those are positive. */
  private static final long FREE = 0;

  /** 2 to the 64th divided by the golden ratio: Knuth, volume 3, section 6.4. */
  private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

  private long[] ids = new long[FIRST_LENGTH];
  private int[] counts = new int[FIRST_LENGTH];
  private int size;

  /** Creates an empty table. */
  public HoldCounts() {}

  /** Returns whether no thread holds the lock. */
  public boolean isEmpty() {
    return size == 0;
  }

  /** Counts one more hold of the thread. */
  public void add(Thread thread) {
    long id = thread.threadId();
    int i = find(id);
    if (ids[i] == FREE) {
      if (2 * size == ids.length) {
        grow();
        i = find(id);
      }
      ids[i] = id;
      size++;
    }
    counts[i]++;
  }

  /** Counts one hold of the thread less; returns false if the thread has none. */
  public boolean remove(Thread thread) {
    int i = find(thread.threadId());
    if (ids[i] == FREE) {
      return false;
    }
    if (--counts[i] == 0) {
      free(i);
      size--;
      if (size == 0 && ids.length > KEPT_LENGTH) {
        allocate(FIRST_LENGTH);
      }
    }
    return true;
  }

  /** Calls the visitor with the id of each thread that holds the lock. */
  public void forEachThread(LongConsumer visitor) {
    for (long id : ids) {
      if (id != FREE) {
        visitor.accept(id);
      }
    }
  }

  /** Returns the place of the id, or the free place where it belongs. */
  private int find(long id) {
    int i = home(id);
    while (ids[i] != id && ids[i] != FREE) {
      i = next(i);
    }
    return i;
  }

  private int home(long id) {
    return (int) ((id * GOLDEN) >>> 32) & (ids.length - 1);
  }

  private int next(int i) {
    return (i + 1) & (ids.length - 1);
  }

  /** Frees a place, and moves ids behind it up to it: Knuth's algorithm R, same section. */
  private void free(int gap) {
    int mask = ids.length - 1;
    ids[gap] = FREE;
    for (int i = next(gap); ids[i] != FREE; i = next(i)) {
      int fromHome = (i - home(ids[i])) & mask;
      if (fromHome >= ((i - gap) & mask)) {
        ids[gap] = ids[i];
        counts[gap] = counts[i];
        ids[i] = FREE;
        counts[i] = 0;
        gap = i;
      }
    }
  }

  private void grow() {
    long[] oldIds = ids;
    int[] oldCounts = counts;
    allocate(2 * oldIds.length);
    for (int i = 0; i < oldIds.length; i++) {
      if (oldIds[i] != FREE) {
        int place = find(oldIds[i]);
        ids[place] = oldIds[i];
        counts[place] = oldCounts[i];
      }
    }
  }

  private void allocate(int length) {
    ids = new long[length];
    counts = new int[length];
  }
}
