package dev.weft.sim;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a name on a simulated disk stands for. Compared by identity, as inodes are. */
sealed interface DiskNode {
  /** A regular file. Its content is that of a real file. */
  final class RegularFile implements DiskNode {
    /** A name of the real file which the program does not know, and so cannot remove. */
    final Path store;

    /** What was written since the file was last forced, in order. */
    final List<DiskChange.Content> unforced = new ArrayList<>();

    long unforcedBytes;

    RegularFile(Path store) {
      this.store = store;
    }
  }

  /** A directory: the names in it as the program sees them, and those that survive a crash. */
  final class Directory implements DiskNode {
    final Map<String, DiskNode> live = new TreeMap<>();
    final Map<String, DiskNode> durable = new TreeMap<>();
  }

  /** A symbolic link. */
  final class Symlink implements DiskNode {
    final Path target;

    Symlink(Path target) {
      this.target = target;
    }
  }
}
