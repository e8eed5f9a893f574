package dev.weft.cli;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The libraries that a program in one source file asks for, in lines as JBang has them: {@code
 * //DEPS group:artifact:version}. Maven gets them, and all that they need; where they are is kept
 * for the next time.
 */
final class Libraries {
  private static final Pattern LINE = Pattern.compile("//DEPS\\s+(.*)");
  private static final Pattern COORDINATES = Pattern.compile("([\\w.-]+):([\\w.-]+):([\\w.-]+)");

  // the one that pom.xml names
  private static final String PLUGIN =
      "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:build-classpath";

  // as ./weft starts Maven: it ends before the JVM's second compiler pays
  private static final String BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

  private Libraries() {}

  /**
   * Returns the jars that the source file needs.
   *
   * @throws UserMistake if it asks for something that is not to be had
   */
  static List<Path> of(Path source) throws IOException {
    List<String> wanted;
    try (Stream<String> lines = Files.lines(source)) {
      wanted =
          lines
              .map(LINE::matcher)
              .filter(Matcher::matches)
              .flatMap(line -> Stream.of(line.group(1).strip().split("\\s+")))
              .toList();
    }
    if (wanted.isEmpty()) {
      return List.of();
    }
    @Nullable Path folder = Cache.folder("libraries");
    @Nullable Path kept = folder == null ? null : folder.resolve(hash(wanted));
    List<Path> jars = kept != null && Files.exists(kept) ? read(kept) : List.of();
    if (jars.isEmpty() || !jars.stream().allMatch(Files::exists)) {
      Path found = newFileIn(folder);
      try {
        resolve(source, wanted, found);
        jars = read(found);
        if (kept != null && found.startsWith(folder)) {
          Files.move(found, kept, StandardCopyOption.ATOMIC_MOVE);
        }
      } finally {
        Files.deleteIfExists(found);
      }
    }
    return jars;
  }

  /** Makes a file in the folder; elsewhere if there is no folder, or it cannot be written. */
  private static Path newFileIn(@Nullable Path folder) throws IOException {
    if (folder != null) {
      try {
        Files.createDirectories(folder);
        return Files.createTempFile(folder, "new-", "");
      } catch (FileSystemException e) {
        // the libraries are found again the next time
      }
    }
    return Files.createTempFile("weft-libraries-", "");
  }

  private static List<Path> read(Path file) throws IOException {
    return Stream.of(Files.readString(file).strip().split(File.pathSeparator, -1))
        .map(Path::of)
        .toList();
  }

  /** Lets Maven write the class path into a file. */
  @SuppressWarnings("SystemConsoleNull") // JDK 25 returns null again where there is no terminal
  private static void resolve(Path source, List<String> wanted, Path to) throws IOException {
    if (System.console() != null && System.console().isTerminal()) {
      System.err.println("weft: getting the libraries of " + source);
    }
    Path folder = Files.createTempDirectory("weft-libraries-");
    Path pom = folder.resolve("pom.xml");
    Path log = folder.resolve("log");
    try {
      Files.writeString(pom, pom(source, wanted));
      List<String> command = new ArrayList<>(List.of("mvn", "-B", "-q", "-f", pom.toString()));
      // split here, as ./weft does: Maven reads them by itself only since 3.9
      @Nullable String arguments = System.getenv("MAVEN_ARGS");
      if (arguments != null && !arguments.isBlank()) {
        command.addAll(List.of(arguments.strip().split("\\s+")));
      }
      command.addAll(List.of(PLUGIN, "-DincludeScope=runtime", "-Dmdep.outputFile=" + to));
      ProcessBuilder maven =
          new ProcessBuilder(command)
              .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
              .redirectErrorStream(true)
              .redirectOutput(log.toFile());
      maven.environment().put("JAVA_HOME", System.getProperty("java.home"));
      maven.environment().put("MAVEN_ARGS", "");
      maven.environment().merge("MAVEN_OPTS", BRIEF, (given, brief) -> brief + " " + given);
      maven.environment().remove("JDK_JAVA_OPTIONS"); // meant for the program
      if (run(maven) != 0) {
        throw UserMistake.program(
            "cannot get the libraries of %s: %s".formatted(source, firstError(log)));
      }
    } finally {
      Files.deleteIfExists(pom);
      Files.deleteIfExists(log);
      Files.delete(folder);
    }
  }

  private static int run(ProcessBuilder maven) {
    Process process;
    try {
      process = maven.start();
    } catch (IOException e) {
      throw UserMistake.program("cannot start Maven, which gets libraries: " + e.getMessage());
    }
    try {
      return process.waitFor();
    } catch (InterruptedException e) {
      process.destroy();
      throw UserMistake.program("interrupted while Maven was getting libraries");
    }
  }

  private static String pom(Path source, List<String> wanted) {
    String dependencies =
        wanted.stream()
            .map(coordinates -> dependency(source, coordinates))
            .collect(Collectors.joining());
    return """
        <project>
          <modelVersion>4.0.0</modelVersion>
          <groupId>program</groupId>
          <artifactId>program</artifactId>
          <version>1</version>
          <packaging>pom</packaging>
          <dependencies>%s</dependencies>
        </project>
        """
        .formatted(dependencies);
  }

  private static String dependency(Path source, String coordinates) {
    Matcher parts = COORDINATES.matcher(coordinates);
    if (!parts.matches()) {
      throw UserMistake.program(
          "%s asks for the library %s; it must be group:artifact:version"
              .formatted(source, coordinates));
    }
    return "<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>"
        .formatted(parts.group(1), parts.group(2), parts.group(3));
  }

  private static String firstError(Path log) throws IOException {
    try (Stream<String> lines = Files.lines(log)) {
      return lines
          .filter(line -> line.startsWith("[ERROR] "))
          .map(line -> line.substring("[ERROR] ".length()).replaceFirst(" *-> \\[Help 1]$", ""))
          .findFirst()
          .orElse("Maven failed and does not say why");
    }
  }

  private static String hash(List<String> wanted) {
    try {
      byte[] text = String.join("\n", wanted).getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
