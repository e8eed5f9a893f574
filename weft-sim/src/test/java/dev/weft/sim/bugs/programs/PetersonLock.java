package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * A lock for two threads gives way before it says that it wants to enter; both threads enter.
 *
 * <p>After Peterson's lock with its two writes in the wrong order.
 */
final class PetersonLock {
  static final KnownBug BUG =
      KnownBug.of(
          PetersonLock.class,
          "Peterson's lock with its two writes in the wrong order",
          Kind.ATOMICITY,
          () -> run(new Lock()),
          () -> run(new FixedLock()));

  private PetersonLock() {}

  private static void run(Lock lock) throws Exception {
    Together.run(lock, l -> l.count(0), l -> l.count(1));
    Check.equal(2, lock.counted, "counted");
  }

  private static class Lock {
    final AtomicIntegerArray wants = new AtomicIntegerArray(2);
    volatile int turn;
    int counted;

    void announce(int me) {
      turn = 1 - me;
      wants.set(me, 1);
    }

    void count(int me) {
      announce(me);
      while (wants.get(1 - me) == 1 && turn == 1 - me) {
        Thread.yield();
      }
      counted = counted + 1;
      wants.set(me, 0);
    }
  }

  private static final class FixedLock extends Lock {
    @Override
    void announce(int me) {
      wants.set(me, 1);
      turn = 1 - me;
    }
  }
}
