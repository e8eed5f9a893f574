package dev.weft.proof;

import static dev.weft.proof.OneThread.FIBERS;
import static dev.weft.proof.OneThread.joinAll;
import static java.util.stream.IntStream.range;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the system offers only as a call that blocks: names and files. */
@Feature("H8")
class NamesAndFilesTest {
  @Test
  void names() throws Exception {
    try (OneThread one = new OneThread()) {
      List<Fiber<Boolean>> fibers =
          one.goAll(
              FIBERS,
              i -> {
                InetAddress byName = InetAddress.getByName("localhost");
                InetAddress byNumber = InetAddress.getByName("127.0.0." + (1 + i));
                assertThat(byNumber.getAddress()).containsExactly(127, 0, 0, 1 + i);
                return byName.isLoopbackAddress() && byNumber.isLoopbackAddress();
              });
      one.hasFreeThread();
      assertThat(joinAll(fibers)).containsOnly(true);
    }
  }

  /** Longer than a name can be, so that no server is asked for it. */
  @Test
  void namesThatAreNone() throws Exception {
    try (OneThread one = new OneThread()) {
      List<Fiber<String>> fibers =
          one.goAll(
              FIBERS,
              i -> {
                try {
                  return InetAddress.getByName("x".repeat(64 + i)).toString();
                } catch (UnknownHostException e) {
                  return "unknown";
                }
              });
      assertThat(joinAll(fibers)).containsOnly("unknown");
    }
  }

  @Test
  void files(@TempDir Path folder) throws Exception {
    try (OneThread one = new OneThread()) {
      List<Fiber<String>> fibers =
          one.goAll(
              FIBERS,
              i -> {
                Path file = folder.resolve("file-" + i);
                Files.writeString(file, "first " + i + "\nsecond " + i + "\n");
                try (RandomAccessFile random = new RandomAccessFile(file.toFile(), "rw")) {
                  random.writeBytes("FIRST");
                }
                try (BufferedReader lines = Files.newBufferedReader(file)) {
                  return lines.readLine() + ", " + lines.readLine();
                } finally {
                  Files.move(file, folder.resolve("done-" + i));
                }
              });
      one.hasFreeThread();
      assertThat(joinAll(fibers))
          .isEqualTo(range(0, FIBERS).mapToObj(i -> "FIRST %d, second %<d".formatted(i)).toList());
      try (var left = Files.list(folder)) {
        assertThat(left).hasSize(FIBERS).allMatch(file -> file.toString().contains("done-"));
      }
    }
  }
}
