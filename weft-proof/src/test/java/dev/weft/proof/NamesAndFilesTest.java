package dev.weft.proof;

import static dev.weft.proof.OneThread.FIBERS;
import static dev.weft.proof.OneThread.joinAll;
import static java.util.stream.IntStream.range;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Weft;
import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names and files, for which the system has only blocking calls. */
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

  /** The name is longer than any valid name, so the resolver asks no server. */
  @Test
  void unknownNames() throws Exception {
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
                Weft.blocking(() -> Files.writeString(file, "first " + i + "\nsecond " + i + "\n"));
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

  /** Named pipes: an open waits in the kernel for the other side. */
  @Test
  void waitingForAFileInABlockingCallBlocksNoWorker(@TempDir Path folder) throws Exception {
    List<Path> pipes = range(0, FIBERS).mapToObj(i -> folder.resolve("pipe-" + i)).toList();
    List<String> make = new ArrayList<>(List.of("mkfifo"));
    pipes.forEach(pipe -> make.add(pipe.toString()));
    assertThat(Command.of(make.toArray(new String[0])).run().exitStatus()).isZero();
    try (OneThread one = new OneThread()) {
      List<Fiber<String>> fibers =
          one.goAll(FIBERS, i -> Weft.blocking(() -> Files.readString(pipes.get(i))));
      one.eventually(
          "all wait, for their pipe or for a helper thread",
          () -> one.stats().blocking() + one.stats().awaitingHelper() == FIBERS);
      one.hasFreeThread();
      for (Path pipe : pipes) { // helper threads serve in FIFO order
        Files.writeString(pipe, "through " + pipe.getFileName());
      }
      assertThat(joinAll(fibers))
          .isEqualTo(range(0, FIBERS).mapToObj(i -> "through pipe-" + i).toList());
    }
  }
}
