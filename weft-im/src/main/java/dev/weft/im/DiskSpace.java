package dev.weft.im;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Whether there is room on the disk of an embedded database. Changes are refused a little before it
 * is full: a database that fails in the middle of a write closes itself.
 */
final class DiskSpace {
  private static final Duration LOOK_EVERY = Duration.ofMillis(200);

  /** So much is left free, but no more than a part of the disk. */
  private static final long RESERVE = 16L << 20;

  private static final int PART_OF_DISK = 16;

  private final BooleanSupplier look;

  // both stale at worst: threads that look at once do no harm
  private volatile long looked = System.nanoTime() - LOOK_EVERY.toNanos();
  private volatile boolean isShort;

  private DiskSpace(BooleanSupplier look) {
    this.look = look;
  }

  static DiskSpace unlimited() {
    return new DiskSpace(() -> false);
  }

  /** Returns that of the disk where H2 keeps a database. */
  static DiskSpace of(String url) {
    String place = url.replaceFirst("^jdbc:h2:(file:)?", "").replaceFirst(";.*", "");
    Path file = Path.of(place.replaceFirst("^~", System.getProperty("user.home")));
    Path folder = file.toAbsolutePath().getParent();
    return folder == null ? unlimited() : new DiskSpace(() -> isShort(folder));
  }

  private static boolean isShort(Path folder) {
    try {
      FileStore disk = Files.getFileStore(folder);
      return disk.getUsableSpace() < Math.min(RESERVE, disk.getTotalSpace() / PART_OF_DISK);
    } catch (IOException e) {
      return false; // not known: the write itself will tell
    }
  }

  boolean isShort() {
    long now = System.nanoTime();
    if (now - looked >= LOOK_EVERY.toNanos()) {
      looked = now;
      isShort = look.getAsBoolean();
    }
    return isShort;
  }
}
