package dev.weft.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;

/**
 * What is needed to start a program.
 *
 * @param classPath its own classes and libraries; Weft's are there already
 * @param module where its main class is; null for the class path
 * @param manifest what a jar says about itself; empty for other programs
 */
record Program(
    List<Path> classPath, @Nullable Module module, String mainClass, Attributes manifest) {
  Program(List<Path> classPath, String mainClass) {
    this(classPath, null, mainClass, new Attributes());
  }

  /**
   * Finds the program that the user named, compiling it if it is a source file.
   *
   * @throws UserMistake if there is none
   */
  static Program find(RunOptions options) {
    String target = options.target();
    if (options.isModule()) {
      return ofModule(target, options.classPath());
    }
    if (target.endsWith(".java")) {
      if (ModuleLayer.boot().findModule("jdk.compiler").isEmpty()) {
        throw UserMistake.program(
            "cannot compile %s: this Java has no compiler (module jdk.compiler); use a JDK"
                .formatted(target));
      }
      return SourceFile.compile(readable(Path.of(target)), options.classPath());
    }
    if (target.endsWith(".jar")) {
      return ofJar(readable(Path.of(target)), options.classPath());
    }
    if (Files.isDirectory(Path.of(target))) {
      throw folder(target);
    }
    if (target.contains("/") || Files.exists(Path.of(target))) {
      throw UserMistake.usage(
          "cannot run " + target + ": it is neither a .java file, nor a .jar, nor a class name");
    }
    return new Program(
        options.classPath().isEmpty() ? List.of(Path.of(".")) : options.classPath(), target);
  }

  private static Program ofModule(String target, List<Path> classPath) {
    int slash = target.indexOf('/');
    String name = slash < 0 ? target : target.substring(0, slash);
    Module module =
        ModuleLayer.boot()
            .findModule(name)
            .orElseThrow(
                () -> UserMistake.usage("module " + name + " not found on the module path"));
    String mainClass =
        slash >= 0
            ? target.substring(slash + 1)
            : module
                .getDescriptor()
                .mainClass()
                .orElseThrow(
                    () ->
                        UserMistake.usage(
                            "module %s names no main class; name it: -m %s/MAIN"
                                .formatted(name, name)));
    return new Program(classPath, module, mainClass, new Attributes());
  }

  private static Program ofJar(Path jar, List<Path> libraries) {
    List<Path> classPath = new ArrayList<>(libraries);
    classPath.addFirst(jar);
    try (JarFile file = new JarFile(jar.toFile())) {
      @Nullable Manifest manifest = file.getManifest();
      Attributes attributes = manifest == null ? new Attributes() : manifest.getMainAttributes();
      @Nullable String mainClass = attributes.getValue(Attributes.Name.MAIN_CLASS);
      if (mainClass == null) {
        throw UserMistake.usage(
            "%s has no Main-Class in its manifest; name the class: ./weft run -cp %s Main"
                .formatted(jar, jar));
      }
      return new Program(classPath, null, mainClass.strip(), attributes);
    } catch (IOException e) {
      throw UserMistake.usage(jar + " is not a jar: " + e.getMessage());
    }
  }

  private static Path readable(Path file) {
    if (!Files.exists(file)) {
      throw UserMistake.usage("no such file: " + file);
    }
    if (Files.isDirectory(file)) {
      throw folder(file.toString());
    }
    if (!Files.isReadable(file)) {
      throw UserMistake.usage("cannot read " + file + ": permission denied");
    }
    return file;
  }

  private static UserMistake folder(String name) {
    return UserMistake.usage("cannot run " + name + ": it is a folder");
  }
}
