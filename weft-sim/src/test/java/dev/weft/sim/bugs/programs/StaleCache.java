package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A reader loads a value, a writer changes and invalidates it, and the reader caches the old value.
 *
 * <p>After Nishtala et al. 2013, Scaling Memcache at Facebook, stale sets.
 */
final class StaleCache {
  static final KnownBug BUG =
      KnownBug.of(
          StaleCache.class,
          "Nishtala et al. 2013, Scaling Memcache at Facebook, stale sets",
          Kind.ATOMICITY,
          () -> run(new Cache()),
          () -> run(new FixedCache()));

  private StaleCache() {}

  private static void run(Cache cache) throws Exception {
    Together.run(cache, Cache::read, c -> c.write("new"));
    Check.equal("new", cache.read(), "value");
  }

  private static class Cache {
    final ConcurrentHashMap<String, String> cached = new ConcurrentHashMap<>();
    volatile String stored = "old";

    String read() {
      String value = cached.get("key");
      if (value == null) {
        value = stored;
        cached.put("key", value);
      }
      return value;
    }

    void write(String value) {
      stored = value;
      cached.remove("key");
    }
  }

  private static final class FixedCache extends Cache {
    @Override
    String read() {
      return cached.computeIfAbsent("key", _ -> stored);
    }

    @Override
    void write(String value) {
      cached.compute(
          "key",
          (_, _) -> {
            stored = value;
            return value;
          });
    }
  }
}
