package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * A barrier counts arrivals and has no rounds: a fast thread comes back before a slow one has seen
 * that the first round is over.
 *
 * <p>After The Little Book of Semaphores, the reusable barrier.
 */
final class BarrierReuse {
  static final KnownBug BUG =
      KnownBug.of(
          BarrierReuse.class,
          "The Little Book of Semaphores, the reusable barrier",
          Kind.LOST_WAKE_UP,
          () -> run(new Barrier()),
          () -> run(new FixedBarrier()));

  private BarrierReuse() {}

  private static void run(Barrier barrier) throws Exception {
    Together.run(barrier, Barrier::meetTwice, Barrier::meetTwice);
  }

  private static class Barrier {
    int arrived;

    synchronized void meet() throws InterruptedException {
      arrived = arrived + 1;
      if (arrived == 2) {
        endRound();
      } else {
        awaitEndOfRound();
      }
    }

    void endRound() {
      arrived = 0;
      notifyAll();
    }

    void awaitEndOfRound() throws InterruptedException {
      while (arrived != 0) {
        wait();
      }
    }

    void meetTwice() throws InterruptedException {
      meet();
      meet();
    }
  }

  private static final class FixedBarrier extends Barrier {
    private int round;

    @Override
    void endRound() {
      round = round + 1;
      super.endRound();
    }

    @Override
    void awaitEndOfRound() throws InterruptedException {
      int arrivedIn = round;
      while (round == arrivedIn) {
        wait();
      }
    }
  }
}
