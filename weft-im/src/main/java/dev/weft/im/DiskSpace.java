package dev.weft.im;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whether there is room on the disk of an embedded database. Changes are refused a little before it
 * is full: a database that fails in the middle of a write closes itself.
 */
final class DiskSpace {
  private static final Duration LOOK_EVERY = Duration.ofMillis(200);

  /** So much is left free, but no more than a part of the disk. */
  private static final long RESERVE = 16L << 20;

  private static final int PART_OF_DISK = 16;

  // null if there is no disk that could be full
  private final @Nullable Path folder;

  // both stale at worst: threads that look at once do no harm
  private volatile long looked = System.nanoTime() - LOOK_EVERY.toNanos();
  private volatile boolean isShort;

  private DiskSpace(@Nullable Path folder) {
    this.folder = folder;
  }

  static DiskSpace unlimited() {
    return new DiskSpace(null);
  }

  /** Returns that of the disk where H2 keeps a database. */
  static DiskSpace of(String url) {
    String place = url.replaceFirst("^jdbc:h2:(file:)?", "").replaceFirst(";.*", "");
    Path file = Path.of(place.replaceFirst("^~", System.getProperty("user.home")));
    return new DiskSpace(file.toAbsolutePath().normalize().getParent());
  }

  /** Returns where the database is, or null if it needs no disk. */
  @Nullable Path folder() {
    return folder;
  }

  /** Returns whether a disk with so many bytes, of which so many can be used, is short of them. */
  static boolean isShort(long usable, long total) {
    return usable < Math.min(RESERVE, total / PART_OF_DISK);
  }

  private static boolean isShort(Path folder) {
    try {
      FileStore disk = Files.getFileStore(folder);
      return isShort(disk.getUsableSpace(), disk.getTotalSpace());
    } catch (IOException e) {
      return false; // not known: the write itself will tell
    }
  }

  boolean isShort() {
    long now = System.nanoTime();
    if (now - looked >= LOOK_EVERY.toNanos()) {
      looked = now;
      isShort = folder != null && isShort(folder);
    }
    return isShort;
  }
}
