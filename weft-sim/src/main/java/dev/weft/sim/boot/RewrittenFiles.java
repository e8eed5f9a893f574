package dev.weft.sim.boot;

import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The methods that rewritten classes of {@code java.io}, {@code sun.nio.ch} and {@code sun.nio.fs}
 * call before and after they change files. Outside a simulation none does anything. Paths are given
 * as the JDK has them: a string, a {@code File} or a {@code Path}.
 */
public final class RewrittenFiles {
  /** The entries of directory streams that were read ahead, by the address of the stream. */
  private static final Map<Long, Queue<byte[]>> LISTINGS = new ConcurrentHashMap<>();

  private RewrittenFiles() {}

  private static @Nullable CurrentFiles here() {
    CurrentWorld world = RewrittenCalls.here();
    return world == null ? null : world.files();
  }

  /** Before a file is opened; a flag other than 0 says that it is truncated. */
  public static void opening(Object path, int truncates) throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.opening(path.toString(), truncates != 0);
    }
  }

  /** After a file was opened as a number. */
  public static void openedPath() throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.openedPath();
    }
  }

  /** After a file has its descriptor. */
  public static void opened(FileDescriptor file, boolean appends, int syncs) throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.opened(file, appends, syncs != 0);
    }
  }

  /** At the beginning of a method that changes or forces a file, and after a force. */
  public static void awaiting(FileDescriptor file) throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.awaiting(file);
    }
  }

  /** Before a write. */
  public static void writing(FileDescriptor file, long position, long length) throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.writing(file, position, length);
    }
  }

  /** After a write. */
  public static void wrote(long count, FileDescriptor file) throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.wrote(file, count);
    }
  }

  /** Before the size of a file changes. */
  public static void resizing(FileDescriptor file, long size) throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.resizing(file, size);
    }
  }

  /** After the size of a file has changed. */
  public static void resized(FileDescriptor file) throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.resized(file);
    }
  }

  /** In place of a force; returns false if the operating system is to do it. */
  public static boolean force(FileDescriptor file) throws IOException {
    CurrentFiles here = here();
    return here != null && here.force(file);
  }

  /** After a channel has locked a part of its file; null: it has not. */
  public static void locked(@Nullable FileLock lock, FileDescriptor file) {
    CurrentFiles here = lock == null ? null : here();
    if (here != null && lock != null) {
      here.locked(lock, file);
    }
  }

  /** Returns whether a transfer to a file has to be done by reads and writes. */
  public static boolean transfersByWrites(FileDescriptor target) {
    CurrentFiles here = here();
    return here != null && here.isOnDisk(target);
  }

  /** Before a FileInputStream reads. */
  public static void reading(FileDescriptor file) {
    if (file == FileDescriptor.in) {
      RewrittenCalls.refuse("a read of the standard input: set another by System.setIn");
    }
  }

  /** Before a file is mapped into memory; 1: to be written. */
  public static void mapping(FileDescriptor file, int protection) {
    CurrentFiles here = here();
    if (here != null && protection == 1 && here.isOnDisk(file)) {
      RewrittenCalls.refuse("a mapped file that can be written (MapMode.READ_WRITE)");
    }
  }

  // ---- names ----

  /** Before a name is created, changed or removed. */
  public static void naming(Object path) throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.naming(path.toString());
    }
  }

  /** After a file was created. */
  public static void created(boolean done, Object path) throws IOException {
    CurrentFiles here = done ? here() : null;
    if (here != null) {
      here.created(path.toString());
    }
  }

  /** After a directory was created. */
  public static void madeDirectory(boolean done, Object path) throws IOException {
    CurrentFiles here = done ? here() : null;
    if (here != null) {
      here.madeDirectory(path.toString());
    }
  }

  /** After a file or directory was removed. */
  public static void removed(boolean done, Object path) throws IOException {
    CurrentFiles here = done ? here() : null;
    if (here != null) {
      here.removed(path.toString());
    }
  }

  /** After a file or directory was renamed. */
  public static void renamed(boolean done, Object from, Object to) throws IOException {
    CurrentFiles here = done ? here() : null;
    if (here != null) {
      here.renamed(from.toString(), to.toString());
    }
  }

  /** After a file got a second name. */
  public static void linked(Object existing, Object name) throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.linked(existing.toString(), name.toString());
    }
  }

  /** After a symbolic link was created. */
  public static void linkedSymbolically(Object path) throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.linkedSymbolically(path.toString());
    }
  }

  /** After the content of a file was copied. */
  public static void copied(Object target, boolean withTimes) throws IOException {
    CurrentFiles here = here();
    if (here != null) {
      here.copied(target.toString(), withTimes);
    }
  }

  // ---- the order of a directory's entries, which the operating system does not promise ----

  /** After {@code File.list}. */
  public static String @Nullable [] sorted(String @Nullable [] names) {
    if (names != null && here() != null) {
      Arrays.sort(names);
    }
    return names;
  }

  /** Before an entry is read: whether to read all entries now. */
  public static boolean startsListing(long stream) {
    return here() != null && LISTINGS.putIfAbsent(stream, new ArrayDeque<>()) == null;
  }

  /** Takes an entry that was read ahead; null: there are no more. Returns whether to go on. */
  public static boolean listed(long stream, byte @Nullable [] name) {
    Queue<byte[]> names = LISTINGS.get(stream);
    if (names != null && name != null) {
      names.add(name);
      return true;
    }
    if (names != null) {
      byte[][] sorted = names.toArray(new byte[0][]);
      Arrays.sort(sorted, Arrays::compareUnsigned);
      LISTINGS.put(stream, new ArrayDeque<>(Arrays.asList(sorted)));
    }
    return false;
  }

  /** Returns whether the entries of a stream were read ahead. */
  public static boolean lists(long stream) {
    return LISTINGS.containsKey(stream);
  }

  /** Returns the next entry that was read ahead; null if there are no more. */
  public static byte @Nullable [] nextListed(long stream) {
    Queue<byte[]> names = LISTINGS.get(stream);
    return names == null ? null : names.poll();
  }

  /** Before a stream is closed: its address may soon be that of another. */
  public static void endsListing(long stream) {
    LISTINGS.remove(stream);
  }
}
