package dev.weft.bench.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A build of Weft that a JVM is started with.
 *
 * @param root the folder of its sources, with the script {@code weft}
 * @param classPath the benchmarks and the build, as {@code -cp} takes them
 * @param jvmFlags the flags that every JVM with this build in it needs
 */
public record Library(Path root, String classPath, List<String> jvmFlags) {
  public Library {
    jvmFlags = List.copyOf(jvmFlags);
  }

  /** Returns the build that this JVM itself runs with. */
  public static Library here(Path root) throws IOException {
    return new Library(root, System.getProperty("java.class.path"), flagsIn(root));
  }

  /** Returns the flags in the file {@code weft.args} of a folder. */
  public static List<String> flagsIn(Path root) throws IOException {
    Path file = root.resolve("weft.args");
    if (!Files.exists(file)) {
      throw new IOException(
          "there is no weft.args in "
              + root
              + ": start in the repository's root, or set weft.root");
    }
    return Files.readAllLines(file).stream()
        .filter(line -> !line.startsWith("#"))
        .flatMap(line -> Stream.of(line.strip().split("\\s+")))
        .filter(flag -> !flag.isEmpty())
        .toList();
  }
}
