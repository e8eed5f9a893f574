package dev.weft.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The repository's folders that a run uses: the flags in its root, and {@code target/bench}. */
record Workspace(Path root) {
  /** Returns the repository that {@code weft.root} names, else the current folder. */
  static Workspace find() {
    return new Workspace(Path.of(System.getProperty("weft.root", "")).toAbsolutePath());
  }

  /** Returns the flags that a JVM with Weft in it needs. */
  List<String> jvmFlags() throws IOException {
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

  /** Opens an empty log for the chatter of the measured JVMs. */
  PrintStream log(String name) throws IOException {
    return new PrintStream(
        Files.newOutputStream(output(name, "log")), true, StandardCharsets.UTF_8);
  }

  /** Writes a result and returns where it is, for people. */
  Path write(String name, String extension, String content) throws IOException {
    Path file = output(name, extension);
    Files.writeString(file, content);
    return root.relativize(file);
  }

  private Path output(String name, String extension) throws IOException {
    return Files.createDirectories(root.resolve("target/bench")).resolve(name + "." + extension);
  }
}
