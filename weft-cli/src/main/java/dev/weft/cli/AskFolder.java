package dev.weft.cli;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;

/**
 * The folder by which a process is asked for a look: {@code /tmp/.weft_pid} and its id, mode 0700,
 * of the user of the process. The process makes its socket inside.
 *
 * <p>Any user can make a folder of this name first, with a socket of its own inside. So a folder
 * that is there is checked before a socket in it is used: it must belong to the user of the process
 * and be closed to others. {@code /tmp} is sticky, hence no other user can replace it then.
 */
final class AskFolder {
  private static final Path TMP = Path.of("/tmp");
  private static final Path PROC = Path.of("/proc");
  private static final String NAME = ".weft_pid";

  /** Bits of the mode of a file: see inode(7). */
  private static final int STICKY = 01000;

  private static final int OTHERS_WRITE = 022;

  private static final Set<PosixFilePermission> OWNER_ALONE =
      PosixFilePermissions.fromString("rwx------");

  private final ProcessHandle process;
  private final Path path;

  private AskFolder(ProcessHandle process, Path path) {
    this.process = process;
    this.path = path;
  }

  /** A process in a container has other folders and another number, which the kernel tells. */
  static AskFolder of(ProcessHandle process) {
    Path proc = PROC.resolve("" + process.pid());
    Path tmp = TMP;
    try {
      Path own = Files.readSymbolicLink(PROC.resolve("self/ns/mnt"));
      if (!own.equals(Files.readSymbolicLink(proc.resolve("ns/mnt")))) {
        tmp = proc.resolve("root/tmp");
      }
    } catch (IOException | UnsupportedOperationException e) {
      // no such thing here: no container either
    }
    return new AskFolder(process, tmp.resolve(NAME + pidInside(proc, process.pid())));
  }

  private static String pidInside(Path proc, long pid) {
    return WeftProcesses.read(proc.resolve("status"))
        .lines()
        .filter(line -> line.startsWith("NSpid:"))
        .map(line -> line.substring(line.lastIndexOf('\t') + 1).strip())
        .findFirst()
        .orElse("" + pid);
  }

  Path socket() {
    return path.resolve("socket");
  }

  /** Makes the folder, unless it is there; returns whether it is one that may be used. */
  boolean make() throws IOException {
    try {
      if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        makeNew();
      }
      check();
      return true;
    } catch (NoSuchFileException e) {
      return false; // the process has just deleted it, after the answer to another ./weft
    } catch (IOException e) {
      throw new IOException(
          "cannot ask process %d: cannot make %s: %s".formatted(process.pid(), path, e), e);
    }
  }

  private void makeNew() throws IOException {
    Path parent = path.getParent();
    if (!parent.equals(TMP)) {
      checkForeign(parent);
    }
    // under another name first: the process must not see it before it has the right owner
    Path made =
        Files.createTempDirectory(
            parent, ".weft_asks", PosixFilePermissions.asFileAttribute(OWNER_ALONE));
    try {
      give(made, owner());
      Files.move(made, path);
    } catch (FileAlreadyExistsException e) {
      Files.deleteIfExists(made); // another ./weft was faster
    } catch (IOException e) {
      Files.deleteIfExists(made);
      throw e;
    }
  }

  /**
   * Throws if others can replace what this process makes in the temporary folder of a container.
   */
  static void checkForeign(Path tmp) throws IOException {
    if (Files.isSymbolicLink(tmp)) {
      throw new IOException(tmp + " is a link, which could lead out of the container");
    }
    int mode = (int) Files.getAttribute(tmp, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    int owner = (int) Files.getAttribute(tmp, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    boolean othersWrite = owner != 0 || (mode & OTHERS_WRITE) != 0;
    if (othersWrite && (mode & STICKY) == 0) {
      throw new IOException(
          tmp + " is not sticky: its users can replace each other's files; 'chmod +t' makes it so");
    }
  }

  /**
   * Gives a folder to the user of the process. No link is followed: a process in a container could
   * have put one in place of the folder, to a file outside that it then owned.
   */
  static void give(Path made, UserPrincipal owner) throws IOException {
    if (!owner.equals(Files.getOwner(made, LinkOption.NOFOLLOW_LINKS))) {
      Files.getFileAttributeView(made, FileOwnerAttributeView.class, LinkOption.NOFOLLOW_LINKS)
          .setOwner(owner);
    }
  }

  private void check() throws IOException {
    PosixFileAttributes found =
        Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    UserPrincipal owner = owner();
    if (!found.isDirectory()
        || !found.owner().equals(owner)
        || !found.permissions().equals(OWNER_ALONE)) {
      throw UserMistake.program(
          "cannot ask process %d safely: %s exists, and is no folder of %s alone (%s, of %s); have it deleted"
              .formatted(
                  process.pid(),
                  path,
                  owner,
                  (found.isDirectory() ? "a folder with " : "no folder, with ")
                      + PosixFilePermissions.toString(found.permissions()),
                  found.owner()));
    }
  }

  /** The user of the process. */
  private UserPrincipal owner() throws IOException {
    Path proc = PROC.resolve("" + process.pid());
    return Files.exists(proc)
        ? Files.getOwner(proc)
        : TMP.getFileSystem()
            .getUserPrincipalLookupService()
            .lookupPrincipalByName(
                process.info().user().orElseGet(() -> System.getProperty("user.name")));
  }

  /** Deletes the folder, if nothing but a socket is in it. */
  void delete() {
    delete(path);
  }

  private static void delete(Path folder) {
    try {
      Files.deleteIfExists(folder.resolve("socket"));
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      // it belongs to another user, or is in use
    }
  }

  /** Deletes what processes of this user have left that were killed while they answered. */
  static void deleteStale() {
    if (!WeftProcesses.hasProc()) {
      return;
    }
    try (DirectoryStream<Path> all = Files.newDirectoryStream(TMP, NAME + "*")) {
      for (Path folder : all) {
        String number = folder.getFileName().toString().substring(NAME.length());
        if (number.matches("\\d+") && !Files.exists(PROC.resolve(number))) {
          delete(folder);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      // it is only tidying up
    }
  }
}
