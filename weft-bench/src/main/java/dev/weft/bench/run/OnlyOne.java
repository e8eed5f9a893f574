package dev.weft.bench.run;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Looks for another benchmark on this machine, by the lock file that JMH holds while it runs. */
public final class OnlyOne {
  private OnlyOne() {}

  /**
   * Checks that no other benchmark runs on this machine.
   *
   * @throws IOException if another benchmark runs
   */
  public static void check() throws IOException {
    if (!Boolean.getBoolean("jmh.ignoreLock")) {
      check(Path.of(System.getProperty("java.io.tmpdir"), "jmh.lock"));
    }
  }

  static void check(Path lockFile) throws IOException {
    try (FileChannel file =
            FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = file.tryLock()) {
      if (lock == null) {
        throw new IOException(
            "another benchmark runs on this machine, and the two would measure each other; wait for"
                + " its end, or set JDK_JAVA_OPTIONS=-Djmh.ignoreLock=true");
      }
    }
  }
}
