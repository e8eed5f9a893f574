package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * Two threads find a lazily created object missing, and each creates its own.
 *
 * <p>After Java Concurrency in Practice, listing 2.3 (LazyInitRace).
 */
final class LazyInitTwice {
  static final KnownBug BUG =
      KnownBug.of(
          LazyInitTwice.class,
          "Java Concurrency in Practice, listing 2.3 (LazyInitRace)",
          Kind.ATOMICITY,
          () -> run(new Registry()),
          () -> run(new FixedRegistry()));

  private LazyInitTwice() {}

  private static void run(Registry registry) throws Exception {
    Together.run(registry, Registry::connection, Registry::connection);
    Check.equal(1, registry.created, "connections");
  }

  private static class Registry {
    private Object connection;
    private int created;

    Object connection() {
      if (connection == null) {
        created = created + 1;
        connection = new Object();
      }
      return connection;
    }
  }

  private static final class FixedRegistry extends Registry {
    @Override
    synchronized Object connection() {
      return super.connection();
    }
  }
}
