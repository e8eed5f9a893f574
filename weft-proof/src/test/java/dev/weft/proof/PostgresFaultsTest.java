package dev.weft.proof;

import static dev.weft.proof.OneThread.FIBERS;
import static dev.weft.proof.OneThread.join;
import static dev.weft.proof.OneThread.joinAll;
import static dev.weft.proof.PostgresTest.ask;
import static dev.weft.proof.PostgresTest.pool;
import static dev.weft.proof.PostgresTest.waitingForLock;
import static java.util.stream.IntStream.range;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.weft.Fiber;
import dev.weft.Weft;
import dev.weft.testkit.Feature;
import dev.weft.testkit.TestServer;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Faults of a database: clear exceptions, the other fibers go on, nothing hangs. */
@Feature("H8")
class PostgresFaultsTest {
  private static final String TERMINATED = "57P01";
  private static final String CANCELED = "57014";
  private static final String CONNECTION_LOST = "08006";

  private static TestServer server;

  @BeforeAll
  static void start() throws Exception {
    server = TestServer.start("postgres");
  }

  @AfterAll
  static void stop() throws IOException {
    if (server != null) {
      server.close();
    }
  }

  /** Runs a query and returns its failure. */
  private static String stateOfFailure(DataSource source, String question) {
    try {
      ask(source, question);
      return "none";
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }

  @ParameterizedTest
  @EnumSource
  void terminatedConnectionsFailAndTheOtherFibersGoOn(PostgresDriver driver) throws Exception {
    DataSource source = driver.dataSource(server);
    try (OneThread one = new OneThread();
        Connection holder = source.getConnection();
        Statement statement = holder.createStatement()) {
      statement.execute("select pg_advisory_lock(7)");
      List<Fiber<String>> fibers =
          one.goAll(
              FIBERS,
              i -> stateOfFailure(source, "select " + i + " from pg_advisory_lock_shared(7)"));
      one.eventually("all wait", () -> waitingForLock(statement) == FIBERS);
      statement.execute(
          "select pg_terminate_backend(pid) from pg_stat_activity"
              + " where query ~ '^select \\d*[02468] from pg_advisory'");
      one.eventually("half are left", () -> waitingForLock(statement) == FIBERS / 2);
      one.hasFreeThread();
      statement.execute("select pg_advisory_unlock(7)");
      assertThat(joinAll(fibers))
          .isEqualTo(range(0, FIBERS).mapToObj(i -> i % 2 == 0 ? TERMINATED : "none").toList());
    }
  }

  @ParameterizedTest
  @EnumSource
  void aKilledServerFailsAllFibers(PostgresDriver driver) throws Exception {
    try (TestServer mortal = TestServer.start("postgres");
        OneThread one = new OneThread()) {
      DataSource source = driver.dataSource(mortal);
      List<Fiber<String>> fibers =
          one.goAll(FIBERS, i -> stateOfFailure(source, "select 1 from pg_sleep(600)"));
      one.eventually(
          "all sleep",
          () -> {
            try {
              return ask(
                      source, "select count(*) from pg_stat_activity where wait_event = 'PgSleep'")
                  == FIBERS;
            } catch (SQLException e) {
              throw new AssertionError(e);
            }
          });
      mortal.kill();
      assertThat(joinAll(fibers)).isSubsetOf(TERMINATED, CONNECTION_LOST, "57P02");
      one.hasFreeThread();
      assertThat(join(one.go(() -> stateOfFailure(source, "select 1")))).isEqualTo("08001");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCancelledFiberLeavesItsQueryAtOnce(PostgresDriver driver) throws Exception {
    try (OneThread one = new OneThread();
        HikariDataSource pool = pool(server, driver, 1)) {
      Fiber<Integer> fiber = one.go(() -> ask(pool, "select 1 from pg_sleep(600)"));
      one.eventually("it asks", () -> sleepers(driver) == 1);
      fiber.cancel();
      assertThatThrownBy(() -> join(fiber)).isInstanceOf(CancellationException.class);
      // the pool has noticed the broken connection and opens another
      assertThat(join(one.go(() -> ask(pool, "select 2")))).isEqualTo(2);
    }
    endSleepers(driver);
  }

  @ParameterizedTest
  @EnumSource
  void aDeadlineEndsAQuery(PostgresDriver driver) throws Exception {
    try (OneThread one = new OneThread();
        HikariDataSource pool = pool(server, driver, 20)) {
      List<Fiber<String>> fibers =
          one.goAll(
              FIBERS,
              i -> {
                try {
                  Weft.withTimeout(
                      Duration.ofMillis(300),
                      () -> ask(pool, "select 1 from pg_sleep(600)")); // or waits for a connection
                  return "answered";
                } catch (TimeoutException e) {
                  return "timed out";
                }
              });
      assertThat(joinAll(fibers)).containsOnly("timed out");
      assertThat(join(one.go(() -> ask(pool, "select 2")))).isEqualTo(2);
    }
    endSleepers(driver);
  }

  @ParameterizedTest
  @EnumSource
  void queryTimeoutsOfTheDriverAndOfTheServer(PostgresDriver driver) throws Exception {
    DataSource source = driver.dataSource(server);
    try (OneThread one = new OneThread()) {
      List<Fiber<String>> fibers =
          one.goAll(
              FIBERS,
              i -> {
                try (Connection connection = source.getConnection();
                    Statement statement = connection.createStatement()) {
                  if (i % 2 == 0) {
                    statement.setQueryTimeout(1);
                  } else {
                    statement.execute("set statement_timeout = 300");
                  }
                  try {
                    statement.execute("select pg_sleep(600)");
                    return "none";
                  } catch (SQLException e) {
                    statement.setQueryTimeout(0);
                    statement.execute("select 1"); // the connection is still usable
                    return e.getSQLState();
                  }
                }
              });
      assertThat(joinAll(fibers)).containsOnly(CANCELED);
    }
  }

  @Test
  void anExhaustedPoolSaysSoAndWorksAfterwards() throws Exception {
    HikariConfig config = new HikariConfig();
    config.setDataSource(PostgresDriver.CURRENT.dataSource(server));
    config.setMaximumPoolSize(2);
    config.setConnectionTimeout(250); // HikariCP's minimum
    try (OneThread one = new OneThread();
        HikariDataSource pool = new HikariDataSource(config)) {
      Gate gate = new Gate();
      List<Fiber<Boolean>> holders =
          one.goAll(
              2,
              i -> {
                try (Connection connection = pool.getConnection()) {
                  gate.pass();
                  return connection.isValid(5);
                }
              });
      one.eventually("they hold all there are", () -> gate.arrived() == 2);
      List<Fiber<String>> others =
          one.goAll(
              FIBERS,
              i -> {
                try {
                  return "got " + ask(pool, "select 1");
                } catch (SQLTransientConnectionException e) {
                  return e.getMessage().replaceAll(" after \\d+ms.*", "");
                }
              });
      one.hasFreeThread();
      assertThat(joinAll(others))
          .containsOnly(pool.getPoolName() + " - Connection is not available, request timed out");
      gate.open();
      assertThat(joinAll(holders)).containsOnly(true);
      assertThat(join(one.go(() -> ask(pool, "select 2")))).isEqualTo(2);
    }
  }

  private static int sleepers(PostgresDriver driver) {
    try {
      return ask(
          driver.dataSource(server),
          "select count(*) from pg_stat_activity where wait_event = 'PgSleep'");
    } catch (SQLException | ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** The server notices only at the end of the query that no client waits any more. */
  private static void endSleepers(PostgresDriver driver) throws Exception {
    ask(
        driver.dataSource(server),
        "select count(pg_terminate_backend(pid, 10000)) from pg_stat_activity"
            + " where wait_event = 'PgSleep'");
  }
}
