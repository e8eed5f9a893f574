package dev.weft.sim;

import dev.weft.sim.DiskChange.Content;
import dev.weft.sim.DiskNode.RegularFile;
import dev.weft.sim.agent.Descriptors;
import dev.weft.sim.boot.CurrentFiles;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What rewritten code of the JDK calls before and after each change of a file. Changes of files
 * under the root of a disk go into its {@link DiskTree}.
 *
 * <p>The fiber that changes a file waits for the disk first; from the call before the change to the
 * call after it no other fiber runs. That is why one field holds what is under way.
 */
final class FileCalls implements CurrentFiles {
  /** A file that the program has opened. */
  private record OpenFile(
      Disk disk, int crashes, DiskNode node, Path path, boolean appends, boolean syncs) {
    boolean isStale() {
      return crashes != disk.crashes();
    }
  }

  /** A lock that a program has taken; the operating system releases it when the process ends. */
  private record HeldLock(FileLock lock, Host host) {
    /**
     * Releases the lock in the JDK's table of locks too, which knows a file by its inode: a file of
     * a later run may have the same one.
     */
    void release() {
      try {
        lock.release();
      } catch (IOException e) {
        // The channel is closed, and its locks with it.
      }
    }
  }

  /**
   * A change under way.
   *
   * @param node the file; null if it may be created
   * @param before the bytes that the change overwrites
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record UnderWay(
      Disk disk, Path path, @Nullable DiskNode node, long offset, byte[] before, long size) {}

  private final Stage stage;
  private final Disks disks;
  private final Map<FileDescriptor, OpenFile> open = new IdentityHashMap<>();
  private final List<HeldLock> locks = new ArrayList<>();
  private @Nullable UnderWay underWay;
  private @Nullable OpenFile justOpened;

  FileCalls(Stage stage, Disks disks) {
    this.stage = stage;
    this.disks = disks;
  }

  /** Closes what the run has left open: fibers that were frozen close nothing. */
  void end() {
    locks.forEach(HeldLock::release); // while the descriptors are open
    locks.clear();
    open.keySet().forEach(Descriptors::close);
    open.clear();
    underWay = null;
    justOpened = null;
  }

  private @Nullable OpenFile openFile(FileDescriptor file) {
    return disks.areSimulated() ? open.get(file) : null;
  }

  // ---- open ----

  @Override
  public void opening(String given, boolean truncates) throws IOException {
    Path path = disks.onDisk(given);
    if (path == null) {
      if (!disks.isOwn()) {
        underWay = null;
        justOpened = null;
      }
      return;
    }
    Disk disk = disks.of(path);
    disks.await(disk);
    underWay =
        disks.own(
            () -> {
              DiskNode node = disk.tree().find(path);
              byte[] before =
                  truncates && node instanceof RegularFile file
                      ? Files.readAllBytes(file.store)
                      : new byte[0];
              return new UnderWay(disk, path, node, 0, before, before.length);
            });
  }

  @Override
  public void openedPath() throws IOException {
    UnderWay opened = disks.isOwn() ? null : underWay;
    if (opened == null) {
      return;
    }
    underWay = null;
    Disk disk = opened.disk;
    DiskNode node = opened.node;
    if (node == null) {
      node = disks.own(() -> disk.tree().created(opened.path));
      disks.own(() -> touched(opened.path, opened.path.getParent()));
    } else if (node instanceof RegularFile file && opened.size > 0) {
      changed(opened, file, new byte[0], 0, "truncation");
    }
    justOpened =
        node == null ? null : new OpenFile(disk, disk.crashes(), node, opened.path, false, false);
  }

  /** Gives files or directories the virtual time of their last change. */
  private @Nullable Void touched(@Nullable Path... paths) throws IOException {
    for (Path path : paths) {
      if (path != null) {
        Files.setLastModifiedTime(path, disks.now());
      }
    }
    return null;
  }

  @Override
  public void opened(FileDescriptor file, boolean appends, boolean syncs) throws IOException {
    if (disks.isOwn()) {
      return;
    }
    openedPath();
    OpenFile opened = justOpened;
    justOpened = null;
    if (opened != null) {
      open.put(
          file,
          new OpenFile(opened.disk, opened.crashes, opened.node, opened.path, appends, syncs));
    }
  }

  @Override
  public boolean isOnDisk(FileDescriptor file) {
    return openFile(file) != null;
  }

  // ---- locks ----

  @Override
  public void locked(FileLock lock, FileDescriptor file) {
    if (isOnDisk(file)) {
      locks.removeIf(held -> !held.lock.isValid());
      locks.add(new HeldLock(lock, stage.hostHere()));
    }
  }

  /** Releases the locks of a host that has crashed, on whatever disk the files are. */
  void releaseLocks(Host host) {
    for (HeldLock held : List.copyOf(locks)) {
      if (held.host == host) {
        held.release();
        locks.remove(held);
      }
    }
  }

  // ---- content ----

  @Override
  public void awaiting(FileDescriptor descriptor) throws IOException {
    OpenFile file = openFile(descriptor);
    if (file != null && !file.isStale()) {
      disks.await(file.disk);
    }
  }

  @Override
  public void writing(FileDescriptor descriptor, long position, long length) throws IOException {
    OpenFile to = change(descriptor);
    if (to == null || !(to.node instanceof RegularFile file) || length == 0) {
      return;
    }
    refuseIfFull(to.disk, true);
    underWay =
        disks.own(
            () -> {
              long size = Files.size(file.store);
              long offset =
                  position >= 0 ? position : to.appends ? size : Descriptors.position(descriptor);
              long end = length < 0 ? size : Math.min(size, offset + length);
              return new UnderWay(to.disk, to.path, file, offset, read(file, offset, end), size);
            });
  }

  @Override
  public void wrote(FileDescriptor descriptor, long count) throws IOException {
    OpenFile to = openFile(descriptor);
    UnderWay write = underWay;
    if (to == null || write == null || !(write.node instanceof RegularFile file)) {
      return;
    }
    underWay = null;
    if (count > 0) {
      byte[] after = disks.own(() -> read(file, write.offset, write.offset + count));
      byte[] before =
          write.before.length > count ? Arrays.copyOf(write.before, (int) count) : write.before;
      changed(
          new UnderWay(write.disk, write.path, file, write.offset, before, write.size),
          file,
          after,
          Math.max(write.size, write.offset + count),
          "write of %,d bytes at %,d".formatted(count, write.offset));
      forceIfSync(to);
    }
  }

  @Override
  public void resizing(FileDescriptor descriptor, long newSize) throws IOException {
    OpenFile to = change(descriptor);
    if (to == null || !(to.node instanceof RegularFile file)) {
      return;
    }
    underWay =
        disks.own(
            () -> {
              long size = Files.size(file.store);
              refuseIfFull(to.disk, newSize > size);
              return new UnderWay(to.disk, to.path, file, newSize, read(file, newSize, size), size);
            });
  }

  @Override
  public void resized(FileDescriptor descriptor) throws IOException {
    OpenFile to = openFile(descriptor);
    UnderWay change = underWay;
    if (to == null || change == null || !(change.node instanceof RegularFile file)) {
      return;
    }
    underWay = null;
    changed(
        change, file, new byte[0], change.offset, "change of size to %,d".formatted(change.offset));
    forceIfSync(to);
  }

  /** Returns an open file that is about to change; null if it is on no disk. */
  private @Nullable OpenFile change(FileDescriptor descriptor) throws IOException {
    if (disks.isOwn()) {
      return null;
    }
    underWay = null;
    OpenFile file = openFile(descriptor);
    if (file != null && file.isStale()) {
      throw new IOException(
          "cannot change %s: its disk has crashed since the file was opened".formatted(file.path));
    }
    return file;
  }

  private void refuseIfFull(Disk disk, boolean grows) throws IOException {
    if (disk.isFull() && grows) {
      disks.happened(disk, Fault.FULL_DISK, "is full");
      throw new IOException("No space left on device");
    }
  }

  private void changed(UnderWay change, RegularFile file, byte[] after, long sizeAfter, String what)
      throws IOException {
    DiskTree tree = change.disk.tree();
    tree.changed(
        new Content(
            tree.nextOrder(),
            what + " of " + tree.nameOf(change.path) + stage.placeIfRecorded(),
            file,
            change.offset,
            change.before,
            after,
            change.size,
            sizeAfter));
    disks.own(() -> touched(file.store));
  }

  private static byte[] read(RegularFile file, long from, long to) throws IOException {
    if (from >= to) {
      return new byte[0];
    }
    byte[] bytes = new byte[Math.toIntExact(to - from)];
    try (RandomAccessFile content = new RandomAccessFile(file.store.toFile(), "r")) {
      content.seek(from);
      content.readFully(bytes);
    }
    return bytes;
  }

  // ---- force ----

  @Override
  public boolean force(FileDescriptor descriptor) throws IOException {
    OpenFile file = change(descriptor);
    if (file == null) {
      return false;
    }
    file.disk.tree().force(file.node, file.disk.isJournaled());
    return true;
  }

  private void forceIfSync(OpenFile file) {
    if (file.syncs) {
      file.disk.tree().force(file.node, file.disk.isJournaled());
    }
  }

  // ---- names ----

  @Override
  public void naming(String given) throws IOException {
    Path path = disks.onDisk(given);
    if (path != null) {
      disks.await(disks.of(path));
    }
  }

  private interface TreeChange {
    void apply(DiskTree tree, Path path) throws IOException;
  }

  private void named(String given, TreeChange change) throws IOException {
    Path path = disks.onDisk(given);
    if (path != null) {
      disks.own(
          () -> {
            change.apply(disks.of(path).tree(), path);
            return touched(path.getParent());
          });
    }
  }

  @Override
  public void created(String path) throws IOException {
    named(
        path,
        (tree, made) -> {
          tree.created(made);
          touched(made);
        });
  }

  @Override
  public void madeDirectory(String path) throws IOException {
    created(path);
  }

  @Override
  public void linkedSymbolically(String path) throws IOException {
    named(path, DiskTree::created);
  }

  @Override
  public void removed(String path) throws IOException {
    named(path, DiskTree::removed);
  }

  @Override
  public void renamed(String from, String to) throws IOException {
    Path source = disks.onDisk(from);
    Path target = disks.onDisk(to);
    if (source == null || target == null || disks.of(source) != disks.of(target)) {
      named(from, DiskTree::removed);
      named(to, DiskTree::created);
    } else {
      named(to, (tree, path) -> tree.renamed(source, path));
      disks.own(() -> touched(source.getParent()));
    }
  }

  @Override
  public void linked(String existing, String name) throws IOException {
    Path source = disks.onDisk(existing);
    named(
        name,
        (tree, path) -> {
          if (source == null) {
            tree.created(path);
          } else {
            tree.linked(source, path);
          }
        });
  }

  @Override
  public void copied(String target, boolean withTimes) throws IOException {
    Path path = disks.onDisk(target);
    if (path == null) {
      return;
    }
    Disk disk = disks.of(path);
    DiskNode node = disks.own(() -> disk.tree().find(path));
    if (node instanceof RegularFile file) {
      byte[] content = disks.own(() -> Files.readAllBytes(file.store));
      FileTime time = disks.own(() -> Files.getLastModifiedTime(file.store));
      if (content.length > 0) {
        changed(
            new UnderWay(disk, path, file, 0, new byte[0], 0),
            file,
            content,
            content.length,
            "copy of %,d bytes".formatted(content.length));
      }
      if (withTimes) {
        disks.own(() -> Files.setLastModifiedTime(file.store, time));
      }
    }
  }
}
