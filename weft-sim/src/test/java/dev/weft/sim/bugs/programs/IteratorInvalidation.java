package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.HashMap;
import java.util.Map;

/**
 * A registry walks its map under a lock, but removes from it without the lock.
 *
 * <p>After JaConTeBe DBCP-369.
 */
final class IteratorInvalidation {
  static final KnownBug BUG =
      KnownBug.of(
          IteratorInvalidation.class,
          "JaConTeBe DBCP-369",
          Kind.ATOMICITY,
          () -> run(new Instances()),
          () -> run(new FixedInstances()));

  private IteratorInvalidation() {}

  private static void run(Instances instances) throws Exception {
    instances.register();
    instances.register();
    Together.run(instances, Instances::register, i -> i.remove(1));
  }

  private static class Instances {
    private final Map<Integer, String> names = new HashMap<>();
    private int highest;

    synchronized void register() {
      for (int key : names.keySet()) {
        highest = Math.max(highest, key);
      }
      names.put(highest + 1, "instance");
    }

    void remove(int key) {
      names.remove(key);
    }
  }

  private static final class FixedInstances extends Instances {
    @Override
    synchronized void remove(int key) {
      super.remove(key);
    }
  }
}
