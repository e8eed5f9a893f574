package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import javax.tools.ToolProvider;

/** A folder of programs for {@code ./weft run}, which runs in it. */
record Programs(Path folder) {
  Command run(String... arguments) {
    List<String> words = new ArrayList<>(List.of(arguments));
    words.addFirst("run");
    return Script.weft(words.toArray(new String[0])).in(folder);
  }

  Command sim(String... arguments) {
    List<String> words = new ArrayList<>(List.of(arguments));
    words.addFirst("sim");
    return Script.weft(words.toArray(new String[0])).in(folder);
  }

  /** Names a call of plain {@code java}. */
  Command java(String... arguments) {
    List<String> words = new ArrayList<>(List.of(arguments));
    words.addFirst(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    return Command.of(words.toArray(new String[0]))
        .without("CLASSPATH")
        .without("JDK_JAVA_OPTIONS")
        .without("JAVA_TOOL_OPTIONS")
        .in(folder);
  }

  void write(String file, String text) throws Exception {
    Path path = folder.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  /** Compiles a class into the folder, and returns the folder. */
  Path compile(String name, String text) throws Exception {
    write(name + ".java", text);
    String classPath = folder + ":" + System.getProperty("java.class.path");
    javac("-d", folder.toString(), "-cp", classPath, folder.resolve(name + ".java").toString());
    Files.delete(folder.resolve(name + ".java"));
    return folder;
  }

  void javac(String... arguments) {
    List<String> words = new ArrayList<>(List.of(arguments));
    words.addFirst("-proc:none");
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, words.toArray(new String[0])))
        .isZero();
  }

  void jar(String file, Attributes attributes, Path... classes) throws Exception {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putAll(attributes);
    Path path = folder.resolve(file);
    Files.createDirectories(path.getParent());
    try (OutputStream out = Files.newOutputStream(path);
        JarOutputStream jar = new JarOutputStream(out, manifest)) {
      for (Path type : classes) {
        jar.putNextEntry(new ZipEntry(type.getFileName().toString()));
        Files.copy(type, jar);
        jar.closeEntry();
      }
    }
  }
}
