package dev.weft.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The user's own folder for files that can be made again. It is in the user's home, not beside
 * Weft: Weft may belong to another user, and so would the files in it.
 */
final class Cache {
  private Cache() {}

  /** Returns a folder of the cache, which may not exist yet; null if the program has no cache. */
  static @Nullable Path folder(String name) {
    String cache = System.getProperty("weft.cache", ""); // set by ./weft
    return cache.isEmpty() ? null : Path.of(cache, name);
  }
}
