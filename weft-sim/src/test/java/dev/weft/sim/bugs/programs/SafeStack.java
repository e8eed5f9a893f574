package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * A lock-free stack of three indexes marks the successor of the top as taken while it pops; a
 * thread that stops in a pop for two other pops and a push gives away an index that another thread
 * holds.
 *
 * <p>After SCTBench safestack/bug1.
 */
final class SafeStack {
  static final KnownBug BUG =
      KnownBug.of(
          SafeStack.class,
          "SCTBench safestack/bug1",
          Kind.ATOMICITY,
          () -> run(new Indexes()),
          () -> run(new FixedIndexes()));

  private SafeStack() {}

  private static void run(Indexes indexes) throws Exception {
    Together.run(indexes, Indexes::useTwice, Indexes::useTwice, Indexes::useTwice);
  }

  private static class Indexes {
    static final int NONE = -1;
    private static final int TAKEN = -2;
    private final AtomicIntegerArray next = new AtomicIntegerArray(new int[] {1, 2, NONE});
    private final AtomicInteger top = new AtomicInteger(0);
    private final AtomicInteger size = new AtomicInteger(3);
    private final AtomicIntegerArray holders = new AtomicIntegerArray(3);

    int pop() {
      while (size.get() > 1) {
        int first = top.get();
        int second = next.getAndSet(first, TAKEN);
        if (second >= 0) {
          if (top.compareAndSet(first, second)) {
            size.decrementAndGet();
            return first;
          }
          next.getAndSet(first, second);
        }
      }
      return NONE;
    }

    void push(int index) {
      int first;
      do {
        first = top.get();
        next.set(index, first);
      } while (!top.compareAndSet(first, index));
      size.incrementAndGet();
    }

    void useTwice() {
      for (int i = 0; i < 2; i++) {
        int index = pop();
        if (index != NONE) {
          Check.equal(1, holders.incrementAndGet(index), "holders of an index");
          holders.decrementAndGet(index);
          push(index);
        }
      }
    }
  }

  private static final class FixedIndexes extends Indexes {
    @Override
    synchronized int pop() {
      return super.pop();
    }

    @Override
    synchronized void push(int index) {
      super.push(index);
    }
  }
}
