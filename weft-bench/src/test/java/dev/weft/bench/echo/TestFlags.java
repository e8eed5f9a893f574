package dev.weft.bench.echo;

import dev.weft.bench.run.Carriers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The JVM flags of the servers in tests: those of this JVM are Surefire's. */
final class TestFlags {
  private TestFlags() {}

  static List<String> of(int threads) throws IOException {
    Path file = Path.of(System.getProperty("weft.root"), "weft.args");
    List<String> flags = new ArrayList<>(Files.readAllLines(file));
    flags.addAll(List.of(Carriers.of(threads)));
    return flags;
  }
}
