package dev.weft.sim;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/** The snippet of the Javadoc of {@link Disk}, and those of docs/simulation.md on files. */
@Feature("V7")
class DiskSnippetsTest {
  @Test
  void aConfigurationThatIsNotForcedIsFound() {
    assertThatThrownBy(DiskSnippetsTest::explore)
        .isInstanceOf(SimulationFailure.Found.class)
        .hasMessageContaining("the configuration is lost")
        .hasMessageContaining("disk bank loses the write of 9 bytes at 0 of config.new");
  }

  private static void explore() {
    // @start region="disk"
    Simulation.explore(
            SimulationOptions.seeds(1_000),
            simulation -> {
              Disk disk = simulation.disk("bank");
              Path config = disk.root().resolve("config");
              Path next = Files.writeString(disk.root().resolve("config.new"), "limit: 10");
              Files.move(next, config, ATOMIC_MOVE); // nothing is forced
              disk.crash();
              if (Files.exists(config) && !Files.readString(config).equals("limit: 10")) {
                throw new AssertionError("the configuration is lost");
              }
            })
        .check(); // throws: the rename has survived, what was written before has not
    // @end
  }

  private static void replace(Path config, String content) throws IOException {
    Path next = config.resolveSibling("config.new");
    try (FileChannel file = FileChannel.open(next, CREATE, TRUNCATE_EXISTING, WRITE)) {
      file.write(ByteBuffer.wrap(content.getBytes(UTF_8)));
      file.force(true); // before the rename: else the new name may lead to an empty file
    }
    Files.move(next, config, ATOMIC_MOVE);
    try (FileChannel directory = FileChannel.open(config.getParent(), READ)) {
      directory.force(true); // else the rename itself may be lost
    }
  }

  @WeftSimulation(seeds = 1000)
  void aConfigurationThatIsForcedSurvives(Simulation simulation) throws Exception {
    Disk disk = simulation.disk("bank");
    Path config = disk.root().resolve("config");
    replace(config, "limit: 10");
    Thread writer =
        new Thread(
            () -> {
              try {
                replace(config, "limit: 20");
              } catch (IOException e) {
                // the disk has crashed
              }
            });
    writer.start();
    Thread.sleep(ThreadLocalRandom.current().nextInt(8));
    disk.crash();
    writer.join();
    assertThat(Files.readString(config)).isIn("limit: 10", "limit: 20");
  }
}
