package dev.weft.sim;

import dev.weft.sim.agent.Sites;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The disks of a run. {@link FileCalls} tells them what the program does with their files; the
 * simulation's own use of files is {@code own}, and not looked at.
 */
final class Disks {
  private static final int SITE = Sites.add("changes a file", "files");

  private final Stage stage;
  private final Map<String, Disk> byFolder = new HashMap<>();
  private SplittableRandom latencies = new SplittableRandom(0);
  private long seed;
  private int crashes;
  private @Nullable RunFolder folder;
  private String prefix = "";
  private boolean own;

  Disks(Stage stage) {
    this.stage = stage;
  }

  // ---- a run ----

  void begin(long newSeed) {
    seed = newSeed;
    crashes = 0;
    latencies = new SplittableRandom(newSeed ^ 0x2545F4914F6CDD1DL);
  }

  /** Returns the disk with a name; it is made, empty, when it is first asked for. */
  Disk disk(String name) {
    if (name.isBlank()) {
      throw new IllegalArgumentException("a disk must have a name, not '" + name + "'");
    }
    String last = name.replaceAll("[^A-Za-z0-9._-]|^[.]", "_");
    Disk known = byFolder.get(last);
    if (known != null && !known.name().equals(name)) {
      throw new IllegalArgumentException(
          "cannot make a disk named '%s': '%s' has the same folder".formatted(name, known.name()));
    }
    return known != null ? known : make(name, last);
  }

  private Disk make(String name, String last) {
    own = true;
    try {
      RunFolder into = folder;
      if (into == null) {
        into = RunFolder.create();
        folder = into;
        prefix = into.path + "/";
      }
      Path root = Files.createDirectory(into.path.resolve(last));
      Disk made = new Disk(this, name, root, new DiskTree(root, into));
      byFolder.put(last, made);
      return made;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a folder for the disk " + name, e);
    } finally {
      own = false;
    }
  }

  /** Looks at no more changes: the run is over, and what is left of it unwinds. */
  void stop() {
    prefix = "";
    byFolder.clear();
  }

  /** Deletes the files of the run. */
  void end() {
    stop();
    RunFolder used = folder;
    folder = null;
    if (used != null) {
      try {
        used.delete();
      } catch (IOException e) {
        throw new UncheckedIOException("cannot delete the files of the run", e);
      }
    }
  }

  /**
   * Crashes the disk of a host, if the host has used one; there is nothing to do when the host
   * restarts.
   */
  void crashOf(String host) {
    for (Disk disk : List.copyOf(byFolder.values())) {
      if (disk.name().equals(host)) {
        disk.crash();
      }
    }
  }

  void crash(Disk disk) throws IOException {
    RunFolder in = folder;
    if (in == null || !byFolder.containsValue(disk)) {
      throw new IllegalStateException(
          "cannot crash the " + disk + ": it belongs to a run that has ended");
    }
    crashes++;
    if (disk.lostProbability().orElse(1) > 0) {
      expect(disk, Fault.LOST_WRITE);
    }
    List<Map.Entry<Fault, String>> faults = new ArrayList<>();
    own = true;
    try {
      SplittableRandom random = new SplittableRandom(seed * 31 + crashes);
      Path survivors = in.unused();
      new DiskCrash(disk, random, now(), (fault, what) -> faults.add(Map.entry(fault, what)))
          .writeTo(survivors);
      Files.move(disk.root(), in.unused());
      Files.move(survivors, disk.root());
      disk.survivedAs(new DiskTree(disk.root(), in));
    } finally {
      own = false;
    }
    faults.forEach(fault -> happened(disk, fault.getKey(), fault.getValue()));
  }

  private void expect(Disk disk, Fault fault) {
    disk.counts().expect(fault);
    stage.around().expect(fault);
  }

  /** Counts a fault of a disk. */
  void happened(Disk disk, Fault fault, String what) {
    disk.counts().add(fault);
    stage.around().happened(fault, disk + " " + what);
  }

  // ---- which disk ----

  /** Returns a path, absolute, if it is on a disk; else null. */
  @Nullable Path onDisk(String given) {
    if (!areSimulated()) {
      return null;
    }
    boolean plain = given.startsWith("/") && !given.contains("/.") && !given.contains("//");
    if (plain && !given.startsWith(prefix)) {
      return null;
    }
    Path path = Path.of(given).toAbsolutePath().normalize();
    return path.startsWith(prefix) && diskOf(path) != null ? path : null;
  }

  private @Nullable Disk diskOf(Path path) {
    int at = Path.of(prefix).getNameCount();
    return path.getNameCount() <= at ? null : byFolder.get(path.getName(at).toString());
  }

  /** Returns the disk that a path is on. */
  Disk of(Path path) {
    Disk disk = diskOf(path);
    if (disk == null) {
      throw new IllegalStateException(path + " is on no disk");
    }
    return disk;
  }

  /** Returns whether changes of files are looked at now. */
  boolean areSimulated() {
    return !own && !prefix.isEmpty();
  }

  /** Returns whether the simulation itself uses files now. */
  boolean isOwn() {
    return own;
  }

  // ---- time ----

  /** Lets time pass, or other fibers run, before a change. */
  void await(Disk disk) throws IOException {
    int before = disk.crashes();
    if (disk.mostLatency() == 0) {
      stage.point(null, SITE);
    } else if (!stage.isInInitializer()) {
      pause(disk);
    }
    if (before != disk.crashes()) {
      throw new IOException("the " + disk + " has crashed in the meantime");
    }
  }

  private void pause(Disk disk) {
    long most = disk.mostLatency();
    long least = disk.leastLatency();
    long end = stage.now() + least + (most > least ? latencies.nextLong(most - least + 1) : 0);
    boolean interrupted = false;
    while (stage.now() < end && !prefix.isEmpty()) {
      interrupted |= Thread.interrupted(); // files do not care
      LockSupport.parkNanos(this, end - stage.now());
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Something that the simulation does with files. */
  interface Own<T extends @Nullable Object> {
    T run() throws IOException;
  }

  /** Does something with files that is not the program's doing. */
  <T extends @Nullable Object> T own(Own<T> action) throws IOException {
    own = true;
    try {
      return action.run();
    } finally {
      own = false;
    }
  }

  /** Returns the time of day, as files have it. */
  FileTime now() {
    return FileTime.from(stage.timeOfDay() / 1_000, TimeUnit.MICROSECONDS);
  }
}
