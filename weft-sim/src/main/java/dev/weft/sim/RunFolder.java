package dev.weft.sim;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The real folder in which a run keeps the files of its disks; empty at the beginning of a run, and
 * deleted after it.
 *
 * <pre>
 *   TMP/weft-sim-USER/0.lock        held by the JVM that uses folder 0
 *   TMP/weft-sim-USER/0/bank/…      the disk of the host bank
 *   TMP/weft-sim-USER/0/.store/7    another name of each file, see DiskNode.RegularFile
 * </pre>
 *
 * <p>A path must not differ between two runs, or programs that hash it run differently. So folders
 * are numbered, and a JVM takes the first that no other JVM holds.
 */
final class RunFolder {
  private static final int MOST_JVMS = 1_000;

  private static @Nullable Path taken;

  /**
   * The open lock files: an unreachable channel is closed by the garbage collector, and a process
   * loses its lock of a file with the first channel of that file that it closes (fcntl(2)).
   */
  private static final List<FileChannel> LOCK_FILES = new ArrayList<>();

  final Path path;
  private final Path stores;
  private int files;
  private int discarded;

  private RunFolder(Path path) throws IOException {
    this.path = path;
    this.stores = path.resolve(".store");
    delete();
    Files.createDirectories(stores);
  }

  /** Makes the folder of a run, without files of a run before. */
  static RunFolder create() {
    try {
      return new RunFolder(take());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a folder for the disks of the simulation", e);
    }
  }

  @SuppressWarnings("StreamResourceLeak") // a lock is held until the JVM ends
  private static synchronized Path take() throws IOException {
    if (taken != null) {
      return taken;
    }
    String user = System.getProperty("user.name", "user").replaceAll("[^A-Za-z0-9_.-]", "_");
    Path base = Path.of(System.getProperty("java.io.tmpdir")).resolve("weft-sim-" + user);
    Files.createDirectories(base);
    base = base.toRealPath();
    for (int i = 0; i < MOST_JVMS; i++) {
      FileChannel channel =
          FileChannel.open(
              base.resolve(i + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      try {
        if (channel.tryLock() == null) {
          channel.close(); // another JVM has it
          continue;
        }
      } catch (OverlappingFileLockException e) {
        LOCK_FILES.add(channel); // another class loader of this JVM has it
        continue;
      }
      LOCK_FILES.add(channel);
      taken = base.resolve(String.valueOf(i));
      return taken;
    }
    throw new IOException("each of %d folders in %s is in use by a JVM".formatted(MOST_JVMS, base));
  }

  /** Gives a file a second name, which lasts as long as the run. */
  Path store(Path file) throws IOException {
    return Files.createLink(stores.resolve(String.valueOf(files++)), file);
  }

  /** Returns a path in the folder at which nothing is yet. */
  Path unused() {
    return path.resolve(".discarded-" + discarded++);
  }

  /** Deletes the folder. */
  void delete() throws IOException {
    if (!Files.exists(path)) {
      return;
    }
    Files.walkFileTree(
        path,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
              throws IOException {
            Files.delete(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
