package dev.weft.cli;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What tests of {@code ./weft run} begin with: it is built, and there is a folder of programs. */
abstract class ProgramsTest {
  @TempDir Path folder;
  Programs programs;

  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
  }

  @BeforeEach
  void programs() {
    programs = new Programs(folder);
  }
}
