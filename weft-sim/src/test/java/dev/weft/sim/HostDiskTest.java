package dev.weft.sim;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A host that crashes and restarts finds on its disk what it had forced. */
@Feature("V7")
class HostDiskTest {
  /** The main of a host that counts how often it has acted, in a file, before it says so. */
  private static void count(Disk disk, boolean forces, AtomicInteger told) throws Exception {
    Path file = disk.root().resolve("count");
    int count = Files.exists(file) ? (int) Files.size(file) : 0;
    assertThat(count)
        .as("the host has forgotten what it has told")
        .isGreaterThanOrEqualTo(told.get());
    told.set(count); // a count may have been forced before the crash, and not told
    try (FileChannel channel = FileChannel.open(file, CREATE, WRITE);
        FileChannel directory = FileChannel.open(disk.root(), READ)) {
      directory.force(true);
      while (count < 5) {
        channel.write(ByteBuffer.wrap("x".getBytes(UTF_8)), count);
        if (forces) {
          channel.force(false);
        }
        told.set(++count);
      }
    }
  }

  private static SimulationResult explore(boolean forces) {
    return Simulation.explore(
        SimulationOptions.seeds(500),
        sim -> {
          AtomicInteger told = new AtomicInteger();
          Host host = sim.host("counter", () -> count(sim.disk("counter"), forces, told));
          assertThat(host.disk()).isSameAs(sim.disk("counter"));
          for (int i = 0; i < 3; i++) {
            Thread.sleep(Duration.ofNanos(1 + ThreadLocalRandom.current().nextLong(15_000_000)));
            host.crash();
            host.restart();
          }
          Thread.sleep(Duration.ofSeconds(1));
          assertThat(told).hasValue(5);
        });
  }

  @Test
  void countsThatWereReportedAndNotForcedAreForgotten() {
    assertThat(explore(false).failure().orElseThrow().text())
        .contains("crash")
        .contains("lost write");
  }

  @Test
  void forcedCountsAreRemembered() {
    SimulationResult result = explore(true);
    result.check();
    assertThat(result.faults().get(Fault.CRASH)).isGreaterThan(1_000);
    assertThat(result.faults().get(Fault.LOST_WRITE)).isPositive();
  }

  /** The files are on a disk that does not crash with the host. */
  @Test
  void aHostThatCrashesLosesItsFileLocks() {
    Simulation.explore(
            SimulationOptions.seeds(5),
            sim -> {
              Path root = sim.disk("shared").root();
              AtomicInteger starts = new AtomicInteger();
              Host host =
                  sim.host(
                      "writer",
                      () -> {
                        FileChannel file = FileChannel.open(root.resolve("f"), CREATE, WRITE);
                        assertThat(file.tryLock()).isNotNull();
                        starts.incrementAndGet();
                        Thread.sleep(Duration.ofDays(1));
                      });
              try (FileChannel other = FileChannel.open(root.resolve("g"), CREATE, WRITE)) {
                FileLock own = other.lock();
                Thread.sleep(Duration.ofSeconds(1));
                host.crash();
                assertThat(own.isValid()).isTrue();
              }
              host.restart();
              Thread.sleep(Duration.ofSeconds(1));
              assertThat(starts).hasValue(2);
            })
        .check();
  }

  @Test
  void clocksOfHostsDiffer() {
    Simulation.explore(
            SimulationOptions.seeds(5),
            sim -> {
              long[] seen = new long[1];
              Host host =
                  sim.host(
                      "slow",
                      () -> {
                        Thread.sleep(1);
                        long before = System.nanoTime();
                        Thread.sleep(1_000);
                        seen[0] = System.nanoTime() - before;
                      });
              host.clock().drift(-500_000).offset(Duration.ofHours(1));
              Thread.sleep(1_500);
              assertThat(seen[0]).isZero();
              Thread.sleep(1_000);
              assertThat(seen[0]).isEqualTo(1_000_000_000L);
            })
        .check();
  }
}
