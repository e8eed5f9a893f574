package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.CountDownLatch;

/**
 * Each station adds one to the token of the station before it, and takes for granted that this
 * station has already run.
 *
 * <p>After SCTBench concurrent-software-benchmarks/token_ring_bad.
 */
final class TokenRing {
  static final KnownBug BUG =
      KnownBug.of(
          TokenRing.class,
          "SCTBench concurrent-software-benchmarks/token_ring_bad",
          Kind.ORDER,
          () -> run(new Ring()),
          () -> run(new FixedRing()));

  private TokenRing() {}

  private static void run(Ring ring) throws Exception {
    Together.run(ring, r -> r.pass(1), r -> r.pass(2), r -> r.pass(3));
    Check.equal(3, ring.tokens[3], "token of the last station");
  }

  private static class Ring {
    final int[] tokens = new int[4];

    void pass(int station) throws InterruptedException {
      tokens[station] = tokens[station - 1] + 1;
    }
  }

  private static final class FixedRing extends Ring {
    private final CountDownLatch[] passed = new CountDownLatch[4];

    FixedRing() {
      for (int i = 0; i < passed.length; i++) {
        passed[i] = new CountDownLatch(i == 0 ? 0 : 1);
      }
    }

    @Override
    void pass(int station) throws InterruptedException {
      passed[station - 1].await();
      super.pass(station);
      passed[station].countDown();
    }
  }
}
