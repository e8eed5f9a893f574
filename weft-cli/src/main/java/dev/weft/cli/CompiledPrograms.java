package dev.weft.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Folders of compiled programs, each named by a hash of all that went into it. */
final class CompiledPrograms {
  /** Compiles into an empty folder. */
  @FunctionalInterface
  interface Compiler {
    void compileInto(Path folder) throws IOException;
  }

  /** A program that was not used for 30 days is deleted. */
  private static final long UNUSED_MILLIS = 30L * 24 * 60 * 60 * 1000;

  private CompiledPrograms() {}

  /** Returns the folder with what the compiler makes of the source, now or in an earlier run. */
  static Path get(Path source, List<Path> classPath, boolean preview, Compiler compiler)
      throws IOException {
    @Nullable Path programs = Cache.folder("programs");
    if (programs == null || classPath.stream().anyMatch(Files::isDirectory)) {
      // the classes in a folder may change at any time: what depends on them is not kept
      return compileForThisRun(compiler);
    }
    Path kept = programs.resolve(hash(source, classPath, preview));
    if (Files.isDirectory(kept)) {
      markUsed(kept);
      return kept;
    }
    Path folder;
    try {
      Files.createDirectories(programs);
      folder = Files.createTempDirectory(programs, "new-");
    } catch (FileSystemException e) {
      return compileForThisRun(compiler); // no disk space, or a home that cannot be written
    }
    try {
      compiler.compileInto(folder);
      moveIfAbsent(folder, kept);
    } finally {
      delete(folder);
    }
    deleteUnused(programs);
    return kept;
  }

  private static void markUsed(Path folder) {
    try {
      Files.setLastModifiedTime(folder, FileTime.fromMillis(System.currentTimeMillis()));
    } catch (IOException e) {
      // a home that cannot be written: nothing is deleted there either
    }
  }

  private static void deleteUnused(Path programs) {
    long limit = System.currentTimeMillis() - UNUSED_MILLIS;
    try (Stream<Path> all = Files.list(programs)) {
      for (Path folder : all.toList()) {
        if (Files.getLastModifiedTime(folder).toMillis() < limit) {
          delete(folder);
        }
      }
    } catch (IOException | UncheckedIOException e) {
      // another run deletes the same folder; what is left is deleted the next time
    }
  }

  private static Path compileForThisRun(Compiler compiler) throws IOException {
    Path folder = Files.createTempDirectory("weft-");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder), "weft-delete-classes"));
    compiler.compileInto(folder);
    return folder;
  }

  /** Moves a folder into its place whole, unless another run was first. */
  private static void moveIfAbsent(Path folder, Path kept) throws IOException {
    try {
      Files.move(folder, kept, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      if (!Files.isDirectory(kept)) {
        throw e;
      }
    }
  }

  private static String hash(Path source, List<Path> classPath, boolean preview)
      throws IOException {
    StringBuilder inputs = new StringBuilder();
    inputs
        .append(Runtime.version())
        .append(preview ? " preview\n" : "\n")
        .append(source.getFileName())
        .append('\n');
    for (Path jar : classPath) {
      inputs.append(jar.toAbsolutePath());
      if (Files.exists(jar)) {
        inputs
            .append(' ')
            .append(Files.size(jar))
            .append(' ')
            .append(Files.getLastModifiedTime(jar));
      }
      inputs.append('\n');
    }
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      sha256.update(inputs.toString().getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(sha256.digest(Files.readAllBytes(source)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.exists(folder) ? Files.walk(folder) : Stream.empty()) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
