package dev.weft.bench.against;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.jar.JarFile;
import java.util.spi.ToolProvider;

/**
 * A build by Maven of Weft's library alone, in an exported commit: its jars, and those of the
 * libraries that it needs, come into the folder {@link #JARS}.
 *
 * @param name the commit in short, for people
 * @param folder the commit's files
 * @param log takes what Maven says
 */
record LibraryBuild(String name, Path folder, Path log) {
  /** Where the jars are, in the commit's folder. */
  static final String JARS = "target/jars";

  private static final List<String> MODULES = List.of("weft-core", "weft-http");

  /** Where the profile {@code launch} of {@code pom.xml} builds, in a module's folder. */
  private static final String OUTPUT = "target/launch";

  void run() throws IOException, InterruptedException {
    List<String> modules =
        MODULES.stream().filter(each -> Files.exists(folder.resolve(each + "/pom.xml"))).toList();
    if (modules.isEmpty()) {
      throw new IOException(name + " does not build: it has no module weft-core");
    }
    Files.deleteIfExists(log);
    String selected = String.join(",", modules);
    maven("-pl", selected, "-Dweft.launch", "compile", "jar:jar");
    // again, with the paths of libraries in the manifests: javac would warn of them
    maven("-pl", selected, "-Dweft.launch", "-Dweft.launchable=true", "jar:jar");
    Path jars = Files.createDirectories(folder.resolve(JARS));
    for (String module : modules) {
      Path output = folder.resolve(module).resolve(OUTPUT);
      if (!Files.exists(output.resolve("classes"))) {
        throw new IOException(name + " does not build: its pom.xml has no profile launch");
      }
      pack(output.resolve("classes"), jars.resolve(module + ".jar"));
      for (Path needed : librariesOf(output.resolve(module + ".jar"))) {
        Path copy = jars.resolve(needed.getFileName());
        if (!MODULES.contains(copy.getFileName().toString().replace(".jar", ""))) {
          Files.copy(needed, copy, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  private void maven(String... arguments) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of("mvn", "-B"));
    // as the script weft does: Maven before 3.9 does not look at the variable
    words.addAll(
        Arrays.stream(Objects.requireNonNullElse(System.getenv("MAVEN_ARGS"), "").split("\\s+"))
            .filter(word -> !word.isEmpty())
            .toList());
    words.addAll(List.of(arguments));
    Map<String, String> variables =
        Map.of("JAVA_HOME", System.getProperty("java.home"), "MAVEN_ARGS", "");
    Command done = Command.run(folder, variables, words);
    Files.writeString(log, done.output(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    if (!done.succeeded()) {
      String why = reason(done.output()).orElse("Maven ends with status " + done.status());
      throw new IOException(
          name
              + " does not build: "
              + why.replace(folder + "/", "")
              + "; the full log is in "
              + log);
    }
  }

  /** The first line that names a source, as a warning does that counts as an error; else any. */
  private static Optional<String> reason(String output) {
    List<String> complaints =
        output
            .lines()
            .filter(line -> line.matches("\\[(ERROR|WARNING)] .*"))
            .map(line -> line.substring(line.indexOf(' ')).strip())
            .toList();
    return complaints.stream()
        .filter(line -> line.contains(".java:"))
        .findFirst()
        .or(() -> complaints.stream().filter(line -> !line.isEmpty()).findFirst());
  }

  private static void pack(Path classes, Path jar) throws IOException {
    ToolProvider tool =
        ToolProvider.findFirst("jar")
            .orElseThrow(() -> new IOException("this Java has no jar tool: use a JDK"));
    int status =
        tool.run(System.err, System.err, "-cMf", jar.toString(), "-C", classes.toString(), ".");
    if (status != 0) {
      throw new IOException("cannot write " + jar);
    }
  }

  /** The paths in the manifest as the profile {@code launch} writes them: a bar ends each. */
  private static List<Path> librariesOf(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      String paths = file.getManifest().getMainAttributes().getValue("Class-Path");
      return Arrays.stream(Objects.requireNonNullElse(paths, "").split("\\|", -1))
          .map(String::strip)
          .filter(path -> !path.isEmpty())
          .map(Path::of)
          .toList();
    }
  }
}
