package dev.weft.bench.run;

import static org.assertj.core.api.Assertions.assertThatIOException;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A second benchmark is refused while one runs. */
class OnlyOneTest {
  @Test
  void aLockThatAnotherProcessHoldsIsRefusedAndAFreeOneIsNot(@TempDir Path dir) throws Exception {
    Path lockFile = dir.resolve("jmh.lock");
    OnlyOne.check(lockFile);
    Process holder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Holder.class.getName(),
                lockFile.toString())
            .start();
    try {
      holder.inputReader().readLine();
      assertThatIOException()
          .isThrownBy(() -> OnlyOne.check(lockFile))
          .withMessageContaining("another benchmark runs");
    } finally {
      holder.destroy();
      holder.waitFor();
    }
    OnlyOne.check(lockFile);
  }

  /** Holds the lock until it is killed. */
  static final class Holder {
    public static void main(String[] args) throws Exception {
      try (var file =
              java.nio.channels.FileChannel.open(
                  Path.of(args[0]), java.nio.file.StandardOpenOption.WRITE);
          var lock = file.lock()) {
        System.out.println(lock.isValid());
        Thread.sleep(60_000);
      }
    }
  }
}
