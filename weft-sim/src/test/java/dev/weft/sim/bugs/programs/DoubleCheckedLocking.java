package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.ArrayList;
import java.util.List;

/**
 * A list is made under a lock, but the second thread does not look again once it has the lock: it
 * replaces the list, and with it what the first thread has added.
 *
 * <p>After the classic double-checked locking without the second check.
 */
final class DoubleCheckedLocking {
  static final KnownBug BUG =
      KnownBug.of(
          DoubleCheckedLocking.class,
          "the classic double-checked locking without the second check",
          Kind.ATOMICITY,
          () -> run(new Listeners()),
          () -> run(new FixedListeners()));

  private DoubleCheckedLocking() {}

  private static void run(Listeners listeners) throws Exception {
    Together.run(listeners, l -> l.add("first"), l -> l.add("second"));
    Check.equal(2, listeners.all.size(), "listeners");
  }

  private static class Listeners {
    List<String> all;

    void add(String name) {
      if (all == null) {
        create();
      }
      synchronized (this) {
        all.add(name);
      }
    }

    synchronized void create() {
      all = new ArrayList<>();
    }
  }

  private static final class FixedListeners extends Listeners {
    @Override
    synchronized void create() {
      if (all == null) {
        super.create();
      }
    }
  }
}
