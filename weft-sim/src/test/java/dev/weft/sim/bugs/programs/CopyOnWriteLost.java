package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.ArrayList;
import java.util.List;

/**
 * Each subscription replaces an immutable list by a longer copy; two copies of one list meet.
 *
 * <p>After the classic copy-on-write without a lock for writers.
 */
final class CopyOnWriteLost {
  static final KnownBug BUG =
      KnownBug.of(
          CopyOnWriteLost.class,
          "the classic copy-on-write without a lock for writers",
          Kind.ATOMICITY,
          () -> run(new Subscribers()),
          () -> run(new FixedSubscribers()));

  private CopyOnWriteLost() {}

  private static void run(Subscribers subscribers) throws Exception {
    Together.run(subscribers, s -> s.add("ann"), s -> s.add("bob"));
    Check.equal(2, subscribers.all.size(), "subscribers");
  }

  private static class Subscribers {
    volatile List<String> all = List.of();

    void add(String name) {
      List<String> longer = new ArrayList<>(all);
      longer.add(name);
      all = longer;
    }
  }

  private static final class FixedSubscribers extends Subscribers {
    @Override
    synchronized void add(String name) {
      super.add(name);
    }
  }
}
