package dev.weft.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The repository's folders that a run uses: its root, {@code target/bench} and {@code docs}.
 *
 * @param root the folder of the repository
 */
public record Workspace(Path root) {
  private static final String UNKNOWN = "unknown";

  /** Returns the repository that {@code weft.root} names, else the current folder. */
  public static Workspace find() {
    return new Workspace(Path.of(System.getProperty("weft.root", "")).toAbsolutePath());
  }

  /** Returns the commit that is checked out, for people; unknown if git cannot tell. */
  public String code() {
    try {
      Process git =
          new ProcessBuilder("git", "-C", root.toString(), "describe", "--always", "--dirty")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return said.isBlank() ? UNKNOWN : said.strip();
    } catch (IOException e) { // there is no git
      return UNKNOWN;
    }
  }

  /** Opens an empty log for the output of the measured JVMs. */
  PrintStream log(String name) throws IOException {
    return new PrintStream(
        Files.newOutputStream(output(name, "log")), true, StandardCharsets.UTF_8);
  }

  /** Writes a result and returns where it is, for people. */
  public Path write(String name, String extension, String content) throws IOException {
    Path file = output(name, extension);
    Files.writeString(file, content);
    return root.relativize(file);
  }

  /** Returns the result of an earlier run, if there is one. */
  public Optional<String> read(String name, String extension) throws IOException {
    return read(output(name, extension));
  }

  /** Puts a file of the documentation in place and returns where it is, for people. */
  public Path publish(String name, String content) throws IOException {
    Path file = document(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
    return root.relativize(file);
  }

  /** Returns a file of the documentation, if there is one. */
  Optional<String> published(String name) throws IOException {
    return read(document(name));
  }

  private static Optional<String> read(Path file) throws IOException {
    return Files.exists(file) ? Optional.of(Files.readString(file)) : Optional.empty();
  }

  private Path document(String name) {
    return root.resolve("docs").resolve(name);
  }

  private Path output(String name, String extension) throws IOException {
    return Files.createDirectories(root.resolve("target/bench")).resolve(name + "." + extension);
  }
}
