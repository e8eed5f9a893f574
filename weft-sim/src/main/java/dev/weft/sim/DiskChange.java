package dev.weft.sim;

import dev.weft.sim.DiskNode.Directory;
import dev.weft.sim.DiskNode.RegularFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A change of a disk that has not been forced: a crash may undo it. */
sealed interface DiskChange {
  /** The size of what a disk writes as a whole. */
  int SECTOR = 512;

  /** Returns the change's place in the order of all changes of the disk. */
  long order();

  /** Returns what the change was, for a report. */
  String what();

  /** Returns as what the loss of the change is counted. */
  Fault loss();

  /**
   * A change of a file's content: a write, or a change of its size.
   *
   * @param offset where the bytes are
   * @param before what was there, as far as the file reached
   * @param after what is there now; empty if only the size was changed
   */
  @SuppressWarnings("ArrayRecordComponent") // changes are compared by identity only
  record Content(
      long order,
      String what,
      RegularFile file,
      long offset,
      byte[] before,
      byte[] after,
      long sizeBefore,
      long sizeAfter)
      implements DiskChange {
    int bytes() {
      return before.length + after.length;
    }

    boolean isWrite() {
      return after.length > 0;
    }

    @Override
    public Fault loss() {
      return isWrite() ? Fault.LOST_WRITE : Fault.LOST_RESIZE;
    }

    void undo(RandomAccessFile content) throws IOException {
      content.seek(offset);
      content.write(before);
      content.setLength(sizeBefore);
    }

    void redo(RandomAccessFile content) throws IOException {
      if (isWrite()) {
        redo(content, 0, after.length);
      } else {
        content.setLength(sizeAfter);
      }
    }

    /** Writes a part of the bytes. */
    void redo(RandomAccessFile content, int from, int to) throws IOException {
      content.seek(offset + from);
      content.write(after, from, to - from);
    }

    /** Returns how many boundaries of sectors are inside the write: there it can tear. */
    int boundaries() {
      return after.length == 0 ? 0 : (int) ((offset + after.length - 1) / SECTOR - offset / SECTOR);
    }

    /** Returns the place, in the bytes, of the boundary with a number from 0. */
    int boundary(int number) {
      return (int) ((offset / SECTOR + 1 + number) * SECTOR - offset);
    }
  }

  /** A name in a directory. Equal if it is the same name in the same directory. */
  record Entry(Directory directory, String name) {
    @Nullable DiskNode live() {
      return directory.live.get(name);
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Entry entry
          && entry.directory == directory
          && entry.name.equals(name);
    }

    @Override
    public int hashCode() {
      return name.hashCode();
    }
  }

  /**
   * A change of names.
   *
   * @param from the name that is gone; null: none
   * @param to the name that is new; null: none
   * @param node what they stand for
   */
  record Name(long order, String what, @Nullable Entry from, @Nullable Entry to, DiskNode node)
      implements DiskChange {
    Stream<Entry> entries() {
      return Stream.concat(Stream.ofNullable(from), Stream.ofNullable(to));
    }

    boolean touches(Directory directory) {
      return entries().anyMatch(entry -> entry.directory == directory);
    }

    @Override
    public Fault loss() {
      return from == null
          ? Fault.LOST_CREATION
          : to == null ? Fault.LOST_DELETION : Fault.LOST_RENAME;
    }

    void apply() {
      if (from != null) {
        from.directory.durable.remove(from.name, node); // another one may have the name
      }
      if (to != null) {
        to.directory.durable.put(to.name, node);
      }
    }
  }
}
