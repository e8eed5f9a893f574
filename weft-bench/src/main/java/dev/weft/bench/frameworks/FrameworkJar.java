package dev.weft.bench.frameworks;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * A program of {@code examples/frameworks} as a jar that names its libraries, so that {@code java
 * -jar} and {@code ./weft run} start the same. {@code ./weft run} finds the libraries: a program
 * with the same {@code //DEPS} lines prints its class path.
 */
record FrameworkJar(Path root, String name) {
  private static final String PRINTER =
      "\nvoid main() { IO.println(System.getProperty(\"java.class.path\")); }\n";

  /** Returns the jar; makes it if the source is newer. */
  Path make() throws IOException, InterruptedException {
    Path source = root.resolve("examples/frameworks").resolve(name + ".java");
    Path folder = Files.createDirectories(root.resolve("target/bench/frameworks"));
    Path jar = folder.resolve(name + ".jar");
    if (Files.exists(jar)
        && Files.getLastModifiedTime(jar).compareTo(Files.getLastModifiedTime(source)) > 0) {
      return jar;
    }
    Path work = Files.createTempDirectory(folder, name);
    List<String> classPath = classPath(source, work);
    Path classes = Files.createDirectories(work.resolve("classes"));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    int status =
        compiler.run(
            null,
            System.err,
            System.err,
            "-parameters",
            "-proc:none",
            "-d",
            classes.toString(),
            "-cp",
            String.join(File.pathSeparator, classPath),
            source.toString());
    if (status != 0) {
      throw new IOException(source + " does not compile");
    }
    Path made = work.resolve("app.jar");
    pack(classes, made, classPath.stream().filter(entry -> !isWeft(entry)).toList());
    Files.move(made, jar, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    return jar;
  }

  private boolean isWeft(String entry) {
    return entry.startsWith(root.resolve("target").toString());
  }

  private List<String> classPath(Path source, Path work) throws IOException, InterruptedException {
    String wanted;
    try (Stream<String> lines = Files.lines(source)) {
      wanted = lines.filter(line -> line.startsWith("//DEPS ")).collect(Collectors.joining("\n"));
    }
    Path printer = Files.writeString(work.resolve("ClassPath.java"), wanted + PRINTER);
    ProcessBuilder builder =
        new ProcessBuilder(root.resolve("weft").toString(), "run", printer.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException("cannot get the libraries of " + source);
    }
    return List.of(said.strip().split(File.pathSeparator, -1));
  }

  private void pack(Path classes, Path jar, List<String> libraries) throws IOException {
    Manifest manifest = new Manifest();
    Attributes main = manifest.getMainAttributes();
    main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    main.put(Attributes.Name.MAIN_CLASS, name);
    main.put(
        Attributes.Name.CLASS_PATH,
        libraries.stream()
            .map(library -> Path.of(library).toUri().toString())
            .collect(Collectors.joining(" ")));
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest);
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        out.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
        Files.copy(file, out);
        out.closeEntry();
      }
    }
  }
}
