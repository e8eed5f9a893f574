package dev.weft.bench.against;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Folders with all that is in them. */
final class Folders {
  private Folders() {}

  /** Makes an empty one. */
  static Path renew(Path folder) throws IOException {
    delete(folder);
    return Files.createDirectories(folder);
  }

  /** Deletes one, if it is there. */
  static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> found = Files.walk(folder)) {
        List<Path> deepestFirst = found.sorted(Comparator.reverseOrder()).toList();
        for (Path each : deepestFirst) {
          Files.delete(each);
        }
      }
    }
  }
}
