package dev.weft.internal.attach;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The folder by which another process asks this one for a look: {@code /tmp/.weft_pid} and the
 * process id, made by the process that asks. The answering socket is made inside it, so that the
 * permissions of the folder are those of the socket.
 *
 * <p>{@code /tmp} and no other folder, as for the JDK's own attach mechanism: both sides have to
 * name the same folder, and the environment and the system properties of the two may differ.
 */
class AttachFolder {
  private static final String NAME = "/tmp/.weft_pid";

  private final Path path;

  AttachFolder(Path path) {
    this.path = path;
  }

  static AttachFolder ofThisProcess() {
    return new AttachFolder(Path.of(NAME + ProcessHandle.current().pid()));
  }

  /**
   * Returns whether a process asks; one system call. A link is not followed: any user can make one
   * in {@code /tmp}, and its target could be on a file system that does not answer.
   */
  boolean isThere() {
    return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
  }

  Path socket() {
    return path.resolve("socket");
  }

  /**
   * Throws unless the user of this process made the folder, for itself alone. In {@code /tmp} no
   * other user can then replace the folder, or reach what is inside.
   */
  void check() throws IOException {
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(path + " is no folder");
    }
    String permissions =
        PosixFilePermissions.toString(
            Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
    if (!permissions.equals("rwx------")) {
      throw new IOException(path + " has the permissions " + permissions + ", not rwx------");
    }
    Object owner = Files.getOwner(path, LinkOption.NOFOLLOW_LINKS);
    IOException foreign = new IOException(path + " belongs to another user, " + owner);
    Path probe;
    try {
      probe = Files.createTempFile(path, "owner", ""); // belongs to the user of this process
    } catch (AccessDeniedException e) {
      foreign.addSuppressed(e);
      throw foreign;
    }
    try {
      if (!owner.equals(Files.getOwner(probe))) {
        throw foreign;
      }
    } finally {
      Files.delete(probe);
    }
  }

  /** Deletes the folder and the socket in it. */
  void delete() {
    try {
      Files.deleteIfExists(socket());
      Files.deleteIfExists(path);
    } catch (IOException e) {
      // the process that asked may have deleted it, or put something else into it
    }
  }
}
