package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread looks at a flag, makes itself known and parks; the flag is set before it is known.
 *
 * <p>After the classic lost wake-up of a home-made lock.
 */
final class LostUnpark {
  static final KnownBug BUG =
      KnownBug.of(
          LostUnpark.class,
          "the classic lost wake-up of a home-made lock",
          Kind.LOST_WAKE_UP,
          () -> run(new Signal()),
          () -> run(new FixedSignal()));

  private LostUnpark() {}

  private static void run(Signal signal) throws Exception {
    Together.run(signal, Signal::await, Signal::set);
  }

  private static class Signal {
    volatile boolean set;
    volatile Thread waiter;

    void await() {
      while (!set) {
        waiter = Thread.currentThread();
        LockSupport.park(this);
      }
    }

    void set() {
      set = true;
      LockSupport.unpark(waiter);
    }
  }

  private static final class FixedSignal extends Signal {
    @Override
    void await() {
      waiter = Thread.currentThread();
      while (!set) {
        LockSupport.park(this);
      }
    }
  }
}
