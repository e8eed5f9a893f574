package dev.weft.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.stream.Stream;

/** Copies of this working copy in other folders. */
final class Clones {
  private Clones() {}

  /** Copies what each build needs, and some modules' sources. */
  static void copy(Path clone, String... sources) throws IOException {
    copyFiles(clone, "pom.xml", "weft", "weft.args", "weft.jfc", ".mvn", "bin", "examples");
    try (Stream<Path> folders = Files.list(Script.ROOT)) {
      for (Path module : folders.filter(f -> Files.exists(f.resolve("pom.xml"))).toList()) {
        copyFiles(clone, module.getFileName() + "/pom.xml");
      }
    }
    copyFiles(clone, sources);
  }

  /** Copies files, and all files in folders. */
  static void copyFiles(Path clone, String... names) throws IOException {
    for (String name : names) {
      try (Stream<Path> files = Files.walk(Script.ROOT.resolve(name))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          Path target = clone.resolve(Script.ROOT.relativize(file).toString());
          Files.createDirectories(target.getParent());
          Files.deleteIfExists(target);
          Files.copy(file, target, StandardCopyOption.COPY_ATTRIBUTES);
        }
      }
    }
  }
}
