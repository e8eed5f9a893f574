package dev.weft.sim.bugs.programs;

import dev.weft.Fiber;
import dev.weft.Weft;
import dev.weft.channel.Channel;
import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import java.util.concurrent.CancellationException;

/**
 * A fiber takes an item from one channel and puts it into another; a cancel between loses the item.
 *
 * <p>After GoKer kubernetes/25331, a cancel while a result is under way.
 */
final class CancelLosesItem {
  static final KnownBug BUG =
      KnownBug.of(
          CancelLosesItem.class,
          "GoKer kubernetes/25331, a cancel while a result is under way",
          Kind.COMMUNICATION,
          () -> run(new Mover()),
          () -> run(new FixedMover()));

  private CancelLosesItem() {}

  private static void run(Mover mover) throws Exception {
    mover.from.send("item");
    Fiber<Void> fiber = Weft.go(mover::move);
    fiber.cancel();
    try {
      fiber.join();
    } catch (CancellationException e) {
      // the item must be in one of the channels nevertheless
    }
    Check.equal(1, mover.from.size() + mover.to.size(), "items");
  }

  private static class Mover {
    final Channel<String> from = Channel.buffered(1);
    final Channel<String> to = Channel.buffered(1);

    void move() throws Exception {
      put(from.receive());
    }

    void put(String item) throws Exception {
      to.send(item);
    }
  }

  private static final class FixedMover extends Mover {
    @Override
    void put(String item) throws Exception {
      Weft.shielded(() -> to.send(item));
    }
  }
}
