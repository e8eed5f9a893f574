package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * A thread looks at a flag, then takes the lock and waits; the notify came between.
 *
 * <p>After the classic notify before the wait.
 */
final class MissedNotify {
  static final KnownBug BUG =
      KnownBug.of(
          MissedNotify.class,
          "the classic notify before the wait",
          Kind.LOST_WAKE_UP,
          () -> run(new Gate()),
          () -> run(new FixedGate()));

  private MissedNotify() {}

  private static void run(Gate gate) throws Exception {
    Together.run(gate, Gate::pass, Gate::open);
  }

  private static class Gate {
    volatile boolean open;

    @SuppressWarnings("WaitNotInLoop") // the bug
    void pass() throws InterruptedException {
      if (!open) {
        synchronized (this) {
          wait();
        }
      }
    }

    synchronized void open() {
      open = true;
      notifyAll();
    }
  }

  private static final class FixedGate extends Gate {
    @Override
    synchronized void pass() throws InterruptedException {
      while (!open) {
        wait();
      }
    }
  }
}
