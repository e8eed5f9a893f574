package dev.weft.sim;

import dev.weft.sim.DiskChange.Content;
import dev.weft.sim.DiskChange.Name;
import dev.weft.sim.DiskNode.Directory;
import dev.weft.sim.DiskNode.RegularFile;
import dev.weft.sim.DiskNode.Symlink;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;

/**
 * A crash of a disk: decides which unforced changes are lost, and writes what survives into a new
 * folder.
 *
 * <p>All files are new ones, not the old ones with changes undone: whatever the fibers of the
 * crashed host still hold open, descriptors and file locks, belongs to files that nobody else sees.
 */
final class DiskCrash {
  /** What happens to the unforced changes. Each finds bugs that the others find late. */
  private enum Extent {
    LOSE_ALL,
    KEEP_ALL,
    LOSE_LAST,
    LOSE_SOME
  }

  private final Disk disk;
  private final SplittableRandom random;
  private final FileTime now;
  private final BiConsumer<Fault, String> report;
  private final Set<DiskChange> lost = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Map<RegularFile, Path> copies = new IdentityHashMap<>();

  /**
   * Prepares a crash.
   *
   * @param now the time that directories get
   * @param report is told of each fault, and what it did
   */
  DiskCrash(Disk disk, SplittableRandom random, FileTime now, BiConsumer<Fault, String> report) {
    this.disk = disk;
    this.random = random;
    this.now = now;
    this.report = report;
  }

  /** Writes what survives to a folder that does not exist yet. */
  void writeTo(Path folder) throws IOException {
    List<DiskChange> unforced = disk.tree().unforced();
    decide(unforced);
    for (DiskChange change : unforced) {
      if (change instanceof Name name) {
        if (!lost.contains(name)) {
          name.apply();
        } else {
          report.accept(name.loss(), "loses the " + name.what());
        }
      }
    }
    write(disk.tree().top(), folder);
  }

  // ---- what is lost ----

  private void decide(List<DiskChange> unforced) {
    Extent extent =
        disk.lostProbability().isPresent()
            ? Extent.LOSE_SOME
            : Extent.values()[random.nextInt(Extent.values().length)];
    double probability = disk.lostProbability().orElse(0.5);
    int kept = random.nextInt(unforced.size() + 1);
    boolean namesEnd = false;
    for (int i = 0; i < unforced.size(); i++) {
      DiskChange change = unforced.get(i);
      boolean loses =
          switch (extent) {
            case LOSE_ALL -> true;
            case KEEP_ALL -> false;
            case LOSE_LAST -> i >= kept;
            case LOSE_SOME -> random.nextDouble() < probability;
          };
      if (change instanceof Name && disk.isJournaled()) {
        namesEnd |= loses; // a journal has no gaps
        loses = namesEnd;
      }
      if (loses) {
        lost.add(change);
      }
    }
  }

  // ---- what survives ----

  private void write(Directory directory, Path folder) throws IOException {
    Files.createDirectory(folder);
    for (Map.Entry<String, DiskNode> entry : directory.durable.entrySet()) {
      Path path = folder.resolve(entry.getKey());
      switch (entry.getValue()) {
        case Directory child -> write(child, path);
        case Symlink link -> Files.createSymbolicLink(path, link.target);
        case RegularFile file -> {
          Path copy = copies.putIfAbsent(file, path);
          if (copy != null) {
            Files.createLink(path, copy);
          } else {
            write(file, path);
          }
        }
      }
    }
    Files.setLastModifiedTime(folder, now);
  }

  private void write(RegularFile file, Path path) throws IOException {
    Files.copy(file.store, path, StandardCopyOption.COPY_ATTRIBUTES);
    if (file.unforced.stream().noneMatch(lost::contains)) {
      return;
    }
    try (RandomAccessFile content = new RandomAccessFile(path.toFile(), "rw")) {
      for (Content change : file.unforced.reversed()) {
        change.undo(content);
      }
      for (Content change : file.unforced) {
        if (!lost.contains(change)) {
          change.redo(content);
        } else if (change.boundaries() > 0 && random.nextDouble() < disk.tornProbability()) {
          tear(change, content);
        } else {
          report.accept(change.loss(), "loses the " + change.what());
        }
      }
    }
    Files.setLastModifiedTime(path, Files.getLastModifiedTime(file.store));
  }

  private void tear(Content change, RandomAccessFile content) throws IOException {
    int at = change.boundary(random.nextInt(change.boundaries()));
    boolean first = random.nextBoolean();
    if (first) {
      change.redo(content, 0, at);
    } else {
      change.redo(content, at, change.after().length);
    }
    report.accept(
        Fault.TORN_WRITE,
        "keeps only the %s %,d bytes of the %s"
            .formatted(
                first ? "first" : "last", first ? at : change.after().length - at, change.what()));
  }
}
