package dev.weft.sim;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;

/**
 * The disk of a host in a simulation. Its files are real ones, in a folder that belongs to the run:
 * the program uses them with the classes of the JDK, at paths under {@link #root}. A crash loses
 * what was not forced.
 *
 * {@snippet class="dev.weft.sim.DiskSnippetsTest" region="disk"}
 *
 * <p>What is durable when:
 *
 * <ul>
 *   <li>The content and size of a file: when the file was forced after the write, by {@code
 *       FileChannel.force} or {@code FileDescriptor.sync}, or opened with {@code SYNC} or {@code
 *       DSYNC}. Closing a file makes nothing durable.
 *   <li>A name, that is a creation, a rename or a deletion: when its directory was forced, by
 *       {@code FileChannel.open(directory).force(true)}; see {@link Names}.
 *   <li>Anything else survives a crash or does not, by seed: all, none, what came before a moment,
 *       or each change by itself. A write of several sectors of 512 bytes may leave some of them.
 * </ul>
 *
 * <p>Files outside the root are not simulated.
 */
public final class Disk {
  /** Which changes of names are durable, and in which order they become so. */
  public enum Names {
    /**
     * As POSIX promises, and no more: a name is durable only when its directory was forced, and
     * each unforced change of names survives or not by itself.
     */
    POSIX,

    /**
     * As ext4, XFS and Btrfs do: names become durable in the order of their changes, and forcing
     * any file or directory makes all earlier changes of names durable.
     */
    JOURNALED
  }

  private final Disks disks;
  private final String name;
  private final Path root;
  private final FaultCounts faults = new FaultCounts();

  // options
  private long leastLatency = 10_000;
  private long mostLatency = 2_000_000;
  private OptionalDouble lost = OptionalDouble.empty();
  private double torn = 0.25;
  private Names names = Names.POSIX;
  private boolean full;

  // how often it has crashed: files that were opened before a crash are of no use after it
  private int crashes;
  private DiskTree tree;

  Disk(Disks disks, String name, Path root, DiskTree tree) {
    this.disks = disks;
    this.name = name;
    this.root = root;
    this.tree = tree;
  }

  /** Returns the folder in which the files of the disk are. */
  public Path root() {
    return root;
  }

  /**
   * Sets how long it takes to open a file, to write, to force and to change names; between 10 µs
   * and 2 ms at first. In that time other fibers run, and the host may crash. With 0 nothing takes
   * time, and each of these operations is a point, where another fiber may run.
   */
  public Disk latency(Duration least, Duration most) {
    if (least.isNegative() || most.compareTo(least) < 0) {
      throw new IllegalArgumentException(
          "latency must be from 0 on, and the least at most the most, not %s to %s"
              .formatted(least, most));
    }
    leastLatency = least.toNanos();
    mostLatency = most.toNanos();
    return this;
  }

  /** Sets with which probability a crash loses an unforced change; otherwise the seed decides. */
  public Disk lostChanges(double probability) {
    lost = OptionalDouble.of(checked(probability));
    return this;
  }

  /**
   * Sets with which probability a write of several sectors that is lost leaves some of them, the
   * first or the last ones; 0.25 at first.
   */
  public Disk tornWrites(double probability) {
    torn = checked(probability);
    return this;
  }

  private static double checked(double probability) {
    if (!(probability >= 0 && probability <= 1)) {
      throw new IllegalArgumentException(
          "a probability must be between 0 and 1, not " + probability);
    }
    return probability;
  }

  /** Sets when names are durable. */
  public Disk names(Names newNames) {
    names = Objects.requireNonNull(newNames, "names");
    return this;
  }

  /**
   * Sets whether the disk is full: a write to it then fails with an IOException, {@code No space
   * left on device}.
   */
  public Disk full(boolean isFull) {
    full = isFull;
    return this;
  }

  /**
   * Loses what was not forced, as when the power fails. Files that are open can no longer be
   * written; the program has to open them again. A crash of the disk's host does this too.
   */
  public void crash() {
    try {
      disks.crash(this);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot simulate a crash of the disk " + name, e);
    }
  }

  /** Returns how often each kind of fault happened on the disk in this run. */
  public Map<Fault, Long> faults() {
    return faults.snapshot();
  }

  // ---- for the simulation ----

  String name() {
    return name;
  }

  DiskTree tree() {
    return tree;
  }

  int crashes() {
    return crashes;
  }

  /** Continues with the files that have survived. */
  void survivedAs(DiskTree newTree) {
    tree = newTree;
    crashes++;
  }

  FaultCounts counts() {
    return faults;
  }

  boolean isFull() {
    return full;
  }

  boolean isJournaled() {
    return names == Names.JOURNALED;
  }

  OptionalDouble lostProbability() {
    return lost;
  }

  double tornProbability() {
    return torn;
  }

  long leastLatency() {
    return leastLatency;
  }

  long mostLatency() {
    return mostLatency;
  }

  @Override
  public String toString() {
    return "disk " + name;
  }
}
