package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A barber finds no customer and falls asleep; a customer that came in between saw the barber awake
 * and did not wake him.
 *
 * <p>After Dijkstra's sleeping barber.
 */
final class SleepingBarber {
  static final KnownBug BUG =
      KnownBug.of(
          SleepingBarber.class,
          "Dijkstra's sleeping barber",
          Kind.LOST_WAKE_UP,
          () -> run(new Shop()),
          () -> run(new FixedShop()));

  private SleepingBarber() {}

  private static void run(Shop shop) throws Exception {
    Together.run(shop, Shop::cut, Shop::visit);
  }

  private static class Shop {
    private final Semaphore bell = new Semaphore(0);
    final Semaphore cuts = new Semaphore(0);
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile boolean asleep;

    void cut() throws InterruptedException {
      if (waiting.get() == 0) {
        asleep = true;
        bell.acquire();
      }
      cuts.release();
    }

    void visit() throws InterruptedException {
      waiting.incrementAndGet();
      if (asleep) {
        bell.release();
      }
      cuts.acquire();
    }
  }

  private static final class FixedShop extends Shop {
    private final Semaphore customers = new Semaphore(0);

    @Override
    void cut() throws InterruptedException {
      customers.acquire();
      cuts.release();
    }

    @Override
    void visit() throws InterruptedException {
      customers.release();
      cuts.acquire();
    }
  }
}
