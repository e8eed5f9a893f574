package dev.weft.sim.boot;

import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.channels.FileLock;

/**
 * The files of the simulation that runs now, as rewritten code of the JDK sees them. {@link
 * RewrittenFiles} asks it only on a thread that is inside the simulation. Methods named with -ing
 * are called before the JDK does something; the others are called after it has succeeded, with
 * nothing in between. {@link #opening}, {@link #awaiting} and {@link #naming} may let other fibers
 * run before they return.
 */
public interface CurrentFiles {
  /** Before a file is opened. */
  void opening(String path, boolean truncates) throws IOException;

  /** After the file of the last {@link #opening} has been opened. */
  void openedPath() throws IOException;

  /** After {@link #openedPath}, or in place of it, when the file has its descriptor. */
  void opened(FileDescriptor file, boolean appends, boolean syncs) throws IOException;

  /** Lets the time pass that a change or a force of a file takes. */
  void awaiting(FileDescriptor file) throws IOException;

  /**
   * Before a write.
   *
   * @param position where; -1: at the descriptor's position
   * @param length how many bytes; -1: unknown
   */
  void writing(FileDescriptor file, long position, long length) throws IOException;

  /** After a write of so many bytes. */
  void wrote(FileDescriptor file, long count) throws IOException;

  /** Before a file is made shorter, or longer. */
  void resizing(FileDescriptor file, long size) throws IOException;

  /** After {@link #resizing}. */
  void resized(FileDescriptor file) throws IOException;

  /** Makes the writes to a file durable; returns false if the operating system is to do that. */
  boolean force(FileDescriptor file) throws IOException;

  /** After a part of a file was locked. */
  void locked(FileLock lock, FileDescriptor file);

  /** Returns whether the file is on a disk of the simulation. */
  boolean isOnDisk(FileDescriptor file);

  /** Before a name is created, changed or removed. */
  void naming(String path) throws IOException;

  /** After a file was created, without opening it. */
  void created(String path) throws IOException;

  /** After a directory was created. */
  void madeDirectory(String path) throws IOException;

  /** After a file or directory was removed. */
  void removed(String path) throws IOException;

  /** After a file or directory was renamed. */
  void renamed(String from, String to) throws IOException;

  /** After a file got a second name. */
  void linked(String existing, String name) throws IOException;

  /** After a symbolic link was created. */
  void linkedSymbolically(String path) throws IOException;

  /** After the content of a file was copied by the operating system, perhaps with its times. */
  void copied(String target, boolean withTimes) throws IOException;
}
