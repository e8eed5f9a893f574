package dev.weft.cli;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The last step of {@code ./weft dist}: lays out what Maven has built as a Maven repository, packs
 * the zip with the launcher, and writes the checksums. Nothing here depends on the clock, the time
 * zone or the order in which a file system lists its files, so the same input gives the same bytes.
 *
 * <pre>
 *   built copy of the sources ──► repository/dev/weft/MODULE/VERSION/…
 *                             └─► weft-VERSION.zip: the launcher, its jars, and the repository
 * </pre>
 */
public final class Distribution {
  private static final List<String> CHECKSUMS = List.of("MD5", "SHA-1", "SHA-256", "SHA-512");

  /** Files of the sources that the launcher needs. */
  private static final List<String> LAUNCHER =
      List.of(
          "weft", "weft.args", "weft.jfc", "bin/packages.sh", "bin/help", "template", "examples");

  private static final String GROUP = "dev/weft";

  private final Path built;
  private final Path out;
  private final String version;
  private final String commit;
  private final FileTime time;

  private Distribution(Path built, Path out, String version, String commit, Instant time) {
    this.built = built;
    this.out = out;
    this.version = version;
    this.commit = commit;
    this.time = FileTime.from(time);
  }

  /**
   * Makes the folder.
   *
   * @param args the folder of the built sources, the empty folder to fill, version, commit, the
   *     time of all entries, and the modules to publish
   */
  public static void main(String[] args) throws IOException {
    Distribution distribution =
        new Distribution(
            Path.of(args[0]), Path.of(args[1]), args[2], args[3], Instant.parse(args[4]));
    for (String module : Arrays.asList(args).subList(5, args.length)) {
      distribution.publish(module);
    }
    writeChecksums(distribution.out.resolve("repository"));
    writeChecksums(distribution.zip());
    writeChecksums(distribution.billOfMaterials());
  }

  /** Copies the files of a module under the names that a Maven repository gives them. */
  private void publish(String module) throws IOException {
    Path target = built.resolve(module).resolve("target");
    Path folder =
        Files.createDirectories(
            out.resolve("repository").resolve(GROUP).resolve(module).resolve(version));
    String name = module + "-" + version;
    Files.copy(target.resolve(module + ".pom"), folder.resolve(name + ".pom"));
    for (String ending : List.of(".jar", "-sources.jar", "-javadoc.jar")) {
      copyIfPresent(target.resolve(name + ending), folder.resolve(name + ending));
    }
    copyIfPresent(
        target.resolve(module + "-cyclonedx.json"), folder.resolve(name + "-cyclonedx.json"));
  }

  /** A BOM has no jar, and a quick build no Javadoc. */
  private static void copyIfPresent(Path from, Path to) throws IOException {
    if (Files.exists(from)) {
      Files.copy(from, to);
    }
  }

  private Path zip() throws IOException {
    String name = "weft-" + version;
    Path cli = built.resolve("weft-cli");
    Path file = out.resolve(name + ".zip");
    Map<String, String> options = Map.of("create", "true", "enablePosixFileAttributes", "true");
    try (FileSystem zip = FileSystems.newFileSystem(file, options)) {
      Path top = zip.getPath("/", name);
      for (String part : LAUNCHER) {
        addAll(built.resolve(part), top.resolve(part));
      }
      add(built.resolve("LICENSE"), top.resolve("LICENSE"));
      add(built.resolve("CHANGELOG.md"), top.resolve("CHANGELOG.md"));
      add(cli.resolve("src/dist/README.md"), top.resolve("README.md"));
      add(cli.resolve("target/weft-cli-" + version + ".jar"), top.resolve("lib/weft-cli.jar"));
      addAll(cli.resolve("target/lib"), top.resolve("lib"));
      addAll(out.resolve("repository"), top.resolve("repository"));
      Path versionFile = top.resolve("VERSION");
      Files.writeString(versionFile, "version=%s\ncommit=%s\n".formatted(version, commit));
      settle(versionFile, false);
    }
    return file;
  }

  /** Copies what the zip consists of. */
  private Path billOfMaterials() throws IOException {
    Path to = out.resolve("weft-" + version + "-cyclonedx.json");
    copyIfPresent(built.resolve("weft-cli/target/weft-cli-cyclonedx.json"), to);
    return to;
  }

  private void addAll(Path from, Path to) throws IOException {
    for (Path file : files(from)) {
      String name = from.relativize(file).toString();
      add(file, name.isEmpty() ? to : to.resolve(name));
    }
  }

  private void add(Path from, Path to) throws IOException {
    createFolders(to.getParent());
    Files.copy(from, to);
    settle(to, Files.isExecutable(from));
  }

  private void createFolders(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      createFolders(folder.getParent());
      Files.createDirectory(folder);
      settle(folder, true);
    }
  }

  /** Sets what an entry of the zip would otherwise take from the clock and the umask. */
  private void settle(Path entry, boolean executable) throws IOException {
    Files.getFileAttributeView(entry, BasicFileAttributeView.class).setTimes(time, time, time);
    Files.setPosixFilePermissions(
        entry, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
  }

  /** Returns the files in a folder, or the file; none if it does not exist. */
  private static List<Path> files(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    }
  }

  /** Writes the checksum files that repositories ask for: the digest in hexadecimal, no more. */
  private static void writeChecksums(Path fileOrFolder) throws IOException {
    for (Path file : files(fileOrFolder)) {
      byte[] content = Files.readAllBytes(file);
      for (String algorithm : CHECKSUMS) {
        String ending = "." + algorithm.replace("-", "").toLowerCase(Locale.ROOT);
        Files.writeString(
            file.resolveSibling(file.getFileName() + ending), digest(algorithm, content));
      }
    }
  }

  private static String digest(String algorithm, byte[] content) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this Java has no " + algorithm, e);
    }
  }
}
