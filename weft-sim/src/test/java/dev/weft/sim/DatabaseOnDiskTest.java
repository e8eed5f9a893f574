package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A real database, H2, on a simulated disk: what it has forced is there after a crash. */
@Feature("V7")
class DatabaseOnDiskTest {
  private static Connection connect(Disk disk) throws SQLException {
    // WRITE_DELAY=0: a commit is written at once; it is not forced.
    return DriverManager.getConnection(
        "jdbc:h2:file:" + disk.root().resolve("db") + ";WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE");
  }

  /** Inserts rows until the disk crashes; CHECKPOINT SYNC is H2's way to force. */
  private static void insert(Disk disk, boolean forces, AtomicInteger durable) {
    try (Connection connection = connect(disk);
        Statement statement = connection.createStatement()) {
      statement.execute("create table t(id int primary key)");
      for (int i = 1; ; i++) {
        statement.execute("insert into t values (" + i + ")");
        if (forces) {
          statement.execute("checkpoint sync");
        }
        durable.set(i);
      }
    } catch (Exception e) {
      // the disk has crashed
    }
  }

  /** Crashes the disk of a database at some moment, and counts the rows that are left. */
  private static void crash(Simulation sim, boolean forces, AtomicInteger rows) throws Exception {
    Disk disk = sim.disk("db").names(Disk.Names.JOURNALED);
    AtomicInteger durable = new AtomicInteger();
    Thread writer = Thread.ofVirtual().name("writer").start(() -> insert(disk, forces, durable));
    Thread.sleep(Duration.ofMillis(50 + ThreadLocalRandom.current().nextInt(200)));
    disk.crash();
    writer.join();
    if (durable.get() > 0) {
      try (Connection connection = connect(disk);
          Statement statement = connection.createStatement();
          ResultSet count = statement.executeQuery("select count(*) from t")) {
        assertThat(count.next()).isTrue();
        assertThat(count.getInt(1)).isBetween(durable.get(), durable.get() + 1);
        rows.addAndGet(count.getInt(1));
      }
    }
  }

  private static SimulationResult explore(boolean forces, AtomicInteger rows) {
    return Simulation.explore(
        SimulationOptions.seeds(20).maxSteps(1_000_000).shrinks(false),
        sim -> crash(sim, forces, rows));
  }

  @Test
  void aCommitAloneIsNotDurable() {
    assertThat(explore(false, new AtomicInteger()).failed()).isTrue();
  }

  @Test
  void forcedRowsAreThereAfterACrash() {
    AtomicInteger rows = new AtomicInteger();
    SimulationResult result = explore(true, rows);
    result.check();
    assertThat(rows).hasPositiveValue();
    assertThat(result.faults().get(Fault.LOST_WRITE)).isPositive();
  }
}
