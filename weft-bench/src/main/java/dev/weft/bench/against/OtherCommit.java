package dev.weft.bench.against;

import dev.weft.Scheduler;
import dev.weft.bench.model.Library;
import dev.weft.http.WeftHttpServerProvider;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Another commit of this repository, built beside this one. Its files are in {@code
 * target/against/<commit>} and stay there for the next run. A build that fails or is interrupted
 * leaves nothing there: it is made in a folder of another name.
 *
 * @param name the commit in short, for people
 * @param folder the commit's files, built
 * @param jars the jars of Weft and of the libraries that Weft needs
 */
public record OtherCommit(String name, Path folder, List<Path> jars) {
  /**
   * Finds the commit and builds it, unless an earlier run has built it.
   *
   * @param root the repository
   * @param ref what git understands: a commit, a branch, a tag, {@code HEAD~3}
   * @throws IOException if there is no such commit, or it does not build; the message says which
   */
  public static OtherCommit build(Path root, String ref, PrintStream err)
      throws IOException, InterruptedException {
    String commit = commitOf(root, ref);
    String name = Command.run(root, List.of("git", "rev-parse", "--short", commit)).text();
    Path folder = root.resolve("target/against").resolve(commit);
    if (!Files.exists(folder)) {
      err.println("weft bench: building " + name + "; takes a minute or two, once");
      Path making = Files.createTempDirectory(Files.createDirectories(folder.getParent()), "new-");
      try {
        export(root, commit, making);
        new LibraryBuild(name, making, folder.resolveSibling(commit + ".log")).run();
        Files.move(making, folder);
      } finally {
        Folders.delete(making);
      }
    }
    try (Stream<Path> jars = Files.list(folder.resolve(LibraryBuild.JARS))) {
      return new OtherCommit(name, folder, jars.sorted().toList());
    }
  }

  private static String commitOf(Path root, String ref) throws IOException, InterruptedException {
    if (!Command.run(root, List.of("git", "rev-parse", "--git-dir")).succeeded()) {
      throw new IOException("--against needs git and its repository, but " + root + " is none");
    }
    Command found =
        Command.run(
            root,
            List.of(
                "git", "rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"));
    if (!found.succeeded()) {
      throw new IOException(
          "git knows no commit '"
              + ref
              + "' here; name a commit, a branch or a tag (git fetch --unshallow gets the old ones)");
    }
    return found.text();
  }

  /** Puts the files of a commit into a folder; index and work tree of the repository stay. */
  private static void export(Path root, String commit, Path to)
      throws IOException, InterruptedException {
    Path archive = Files.createTempFile("weft-", ".tar");
    try {
      for (List<String> step :
          List.of(
              List.of("git", "archive", "--format=tar", "--output=" + archive, commit),
              List.of("tar", "-xf", archive.toString(), "-C", to.toString()))) {
        Command done = Command.run(root, step);
        if (!done.succeeded()) {
          throw new IOException("cannot export " + commit + ": " + done.text());
        }
      }
    } finally {
      Files.delete(archive);
    }
  }

  /**
   * Returns this build with the benchmarks of this JVM.
   *
   * @param recompiled a folder of benchmark classes that come first
   */
  Library library(Path recompiled) throws IOException {
    List<String> path = new ArrayList<>(List.of(recompiled.toString()));
    jars.forEach(jar -> path.add(jar.toString()));
    List<Path> ours = List.of(placeOf(Scheduler.class), placeOf(WeftHttpServerProvider.class));
    Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .filter(entry -> !ours.contains(Path.of(entry).toAbsolutePath().normalize()))
        .forEach(path::add);
    return new Library(folder, String.join(File.pathSeparator, path), Library.flagsIn(folder));
  }

  private static Path placeOf(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).normalize();
    } catch (URISyntaxException e) {
      throw new IllegalStateException("the class path has an entry that is not a file", e);
    }
  }
}
