package dev.weft.sim;

import dev.weft.sim.DiskChange.Content;
import dev.weft.sim.DiskChange.Entry;
import dev.weft.sim.DiskChange.Name;
import dev.weft.sim.DiskNode.Directory;
import dev.weft.sim.DiskNode.RegularFile;
import dev.weft.sim.DiskNode.Symlink;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The names and files of a disk, and what of them is not durable yet. The real files under the root
 * are what the program sees; this tree knows in addition what a crash may undo.
 *
 * <p>Invariant: {@code durable} of all directories, followed by all changes of {@link #unforced()}
 * in order, is {@code live}; the content of a file's store, with its unforced changes undone from
 * the last to the first, is its durable content.
 */
final class DiskTree {
  /** So much of a file is kept in memory; then the oldest half of it becomes durable. */
  private static final long MOST_UNFORCED_BYTES = 16L << 20;

  private final Path root;
  private final RunFolder folder;
  private final Directory top;
  private final List<Name> names = new ArrayList<>();
  private final Set<RegularFile> written = Collections.newSetFromMap(new IdentityHashMap<>());
  private long order;
  private boolean hasSymlinks;

  /** Takes what is under the root as durable. */
  DiskTree(Path root, RunFolder folder) throws IOException {
    this.root = root;
    this.folder = folder;
    this.top = (Directory) scan(root);
  }

  Directory top() {
    return top;
  }

  long nextOrder() {
    return order++;
  }

  /** Returns a path relative to the root, for reports. */
  String nameOf(Path path) {
    return root.relativize(path).toString();
  }

  /** Returns all changes that are not durable, in order. */
  List<DiskChange> unforced() {
    List<DiskChange> all = new ArrayList<>(names);
    written.forEach(file -> all.addAll(file.unforced));
    all.sort((a, b) -> Long.compare(a.order(), b.order()));
    return all;
  }

  // ---- look-up ----

  private @Nullable DiskNode scan(Path path) throws IOException {
    if (Files.isSymbolicLink(path)) {
      hasSymlinks = true;
      return new Symlink(Files.readSymbolicLink(path));
    }
    if (Files.isDirectory(path)) {
      Directory directory = new Directory();
      try (DirectoryStream<Path> children = Files.newDirectoryStream(path)) {
        for (Path child : children) {
          adopt(new Entry(directory, child.getFileName().toString()), child);
        }
      }
      return directory;
    }
    return Files.isRegularFile(path) ? new RegularFile(folder.store(path)) : null;
  }

  /**
   * Adds a file that the simulation finds on the disk and did not make itself: it counts as
   * durable.
   */
  private @Nullable DiskNode adopt(Entry entry, Path path) throws IOException {
    DiskNode node = scan(path);
    if (node != null) {
      entry.directory().live.put(entry.name(), node);
      entry.directory().durable.put(entry.name(), node);
    }
    return node;
  }

  /** Returns the place of a name; null if its directory does not exist, or it is the root. */
  private @Nullable Entry entry(Path path) throws IOException {
    Path parent = path.getParent();
    if (parent == null || path.equals(root)) {
      return null;
    }
    if (hasSymlinks && Files.exists(parent)) {
      parent = parent.toRealPath();
    }
    return node(parent) instanceof Directory directory
        ? new Entry(directory, path.getFileName().toString())
        : null;
  }

  private @Nullable DiskNode node(Path path) throws IOException {
    if (path.equals(root)) {
      return top;
    }
    if (!path.startsWith(root)) {
      return null;
    }
    Entry entry = entry(path);
    if (entry == null) {
      return null;
    }
    DiskNode node = entry.live();
    return node != null || !Files.exists(path, LinkOption.NOFOLLOW_LINKS)
        ? node
        : adopt(entry, path);
  }

  /** Returns what a path leads to; null if nothing. */
  @Nullable DiskNode find(Path path) throws IOException {
    DiskNode node = node(path);
    return node instanceof Symlink && Files.exists(path) ? node(path.toRealPath()) : node;
  }

  // ---- names ----

  /** Notes that a file, a directory or a link has a name that is new on this disk. */
  @Nullable DiskNode created(Path path) throws IOException {
    Entry entry = entry(path);
    DiskNode node = entry == null ? null : scan(path);
    if (entry != null && node != null) {
      rename("creation of " + nameOf(path), null, entry, node);
    }
    return node;
  }

  void linked(Path existing, Path path) throws IOException {
    DiskNode node = node(existing);
    Entry entry = entry(path);
    if (node == null || entry == null) {
      created(path);
    } else {
      rename("creation of " + nameOf(path), null, entry, node);
    }
  }

  void removed(Path path) throws IOException {
    Entry entry = entry(path);
    DiskNode node = entry == null ? null : entry.live();
    if (node != null) {
      rename("deletion of " + nameOf(path), entry, null, node);
    }
  }

  void renamed(Path from, Path to) throws IOException {
    Entry source = entry(from);
    Entry target = entry(to);
    DiskNode node = source == null ? null : source.live();
    if (node == null || target == null) {
      created(to);
    } else if (node != target.live()) { // else two names of a file, which stay
      rename("rename of " + nameOf(from) + " to " + nameOf(to), source, target, node);
    }
  }

  private void rename(String what, @Nullable Entry from, @Nullable Entry to, DiskNode node) {
    if (from != null) {
      from.directory().live.remove(from.name());
    }
    if (to != null) {
      to.directory().live.put(to.name(), node);
    }
    names.add(new Name(nextOrder(), what, from, to, node));
  }

  // ---- content ----

  void changed(Content change) {
    RegularFile file = change.file();
    written.add(file);
    file.unforced.add(change);
    file.unforcedBytes += change.bytes();
    if (file.unforcedBytes > MOST_UNFORCED_BYTES) {
      // An operating system writes by itself too, the oldest first.
      while (file.unforcedBytes > MOST_UNFORCED_BYTES / 2 && file.unforced.size() > 1) {
        file.unforcedBytes -= file.unforced.removeFirst().bytes();
      }
    }
  }

  // ---- force ----

  /**
   * Makes a file, or the names in a directory, durable.
   *
   * @param journaled whether all names become durable with it
   */
  void force(DiskNode node, boolean journaled) {
    if (node instanceof RegularFile file) {
      file.unforced.clear();
      file.unforcedBytes = 0;
      written.remove(file);
    }
    if (journaled) {
      names.forEach(Name::apply);
      names.clear();
    } else if (node instanceof Directory directory) {
      forceNames(directory);
    }
  }

  /** Applies the changes of a directory, and earlier ones of the same names elsewhere. */
  private void forceNames(Directory directory) {
    Set<Entry> touched = new HashSet<>();
    Set<Name> forced = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Name change : names.reversed()) {
      if (change.touches(directory) || change.entries().anyMatch(touched::contains)) {
        forced.add(change);
        change.entries().forEach(touched::add);
      }
    }
    names.stream().filter(forced::contains).forEach(Name::apply);
    names.removeIf(forced::contains);
  }
}
