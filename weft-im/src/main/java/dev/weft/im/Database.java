package dev.weft.im;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.weft.Weft;
import dev.weft.im.Store.StoreException;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A database behind a pool of connections: plain JDBC, whose waits hold no thread. */
final class Database implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("dev.weft.im");

  /** How long a command waits for a connection before it fails. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final int CONNECTIONS = 10;

  private final HikariDataSource pool;

  // true since a failure, until something works again: each trouble is told once
  private final AtomicBoolean troubled = new AtomicBoolean();

  // true if calls wait for files, not for a server: that no hook can make a fiber's wait, so they
  // are made on helper threads
  private final boolean usesFiles;

  private Database(HikariDataSource pool, boolean usesFiles) {
    this.pool = pool;
    this.usesFiles = usesFiles;
  }

  /** Opens one; throws if it cannot be reached. */
  static Database open(String url) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url.startsWith("jdbc:h2:") ? withoutHookOfItsOwn(url) : url);
    config.setMaximumPoolSize(CONNECTIONS);
    config.setConnectionTimeout(PATIENCE.toMillis());
    config.setPoolName("weft-im");
    if (url.startsWith("jdbc:postgresql:")) {
      config.addDataSourceProperty("socketTimeout", "30"); // seconds, for a server that is stuck
      config.addDataSourceProperty("tcpKeepAlive", "true");
    } else if (url.startsWith("jdbc:h2:")) {
      config.setConnectionInitSql("SET WRITE_DELAY 0"); // stored means now, not soon
    }
    try {
      boolean usesFiles = url.startsWith("jdbc:h2:") && !url.startsWith("jdbc:h2:mem:");
      return new Database(new HikariDataSource(config), usesFiles);
    } catch (RuntimeException e) {
      throw new StoreException(
          "cannot open the database %s: %s".formatted(withoutSecrets(url), e.getMessage()), e);
    }
  }

  /** H2 would close itself when the process ends, while the server still stores what it has to. */
  private static String withoutHookOfItsOwn(String url) {
    return url.toUpperCase(Locale.ROOT).contains("DB_CLOSE_ON_EXIT")
        ? url
        : url + ";DB_CLOSE_ON_EXIT=FALSE";
  }

  private static String withoutSecrets(String url) {
    int end = url.indexOf('?') >= 0 ? url.indexOf('?') : url.indexOf(';');
    return end < 0 ? url : url.substring(0, end);
  }

  @Override
  public void close() {
    pool.close();
  }

  interface Work<T> {
    T with(Connection connection) throws SQLException;
  }

  interface Reader<T> {
    T read(ResultSet row) throws SQLException;
  }

  interface Change {
    void with(Connection connection) throws SQLException;
  }

  void run(String doing, Change change) {
    call(
        doing,
        connection -> {
          change.with(connection);
          return true;
        });
  }

  /** Does work that takes place as a whole, or not at all. */
  <T> T inTransaction(String doing, Work<T> work) {
    return call(
        doing,
        connection -> {
          connection.setAutoCommit(false); // the pool sets it back
          try {
            T result = work.with(connection);
            connection.commit();
            return result;
          } catch (SQLException | RuntimeException e) {
            try {
              connection.rollback();
            } catch (SQLException second) {
              e.addSuppressed(second);
            }
            throw e;
          }
        });
  }

  <T> List<T> ask(String question, Reader<T> reader, @Nullable Object... values) {
    return call("read", connection -> ask(connection, question, reader, values));
  }

  <T> T call(String doing, Work<T> work) {
    try {
      T result = usesFiles ? Weft.blocking(() -> withConnection(work)) : withConnection(work);
      if (troubled.get() && troubled.compareAndSet(true, false)) {
        LOG.log(Level.INFO, "the database works again");
      }
      return result;
    } catch (SQLException e) {
      if (troubled.compareAndSet(false, true)) {
        LOG.log(Level.WARNING, "cannot " + doing + ": the database fails; told once", e);
      }
      throw new StoreException("cannot " + doing + ": " + e.getMessage(), e);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("work with a database throws SQLException alone", e);
    }
  }

  private <T> T withConnection(Work<T> work) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      return work.with(connection);
    }
  }

  static <T> List<T> ask(
      Connection connection, String question, Reader<T> reader, @Nullable Object... values)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(question)) {
      set(statement, values);
      try (ResultSet rows = statement.executeQuery()) {
        List<T> all = new ArrayList<>();
        while (rows.next()) {
          all.add(reader.read(rows));
        }
        return all;
      }
    }
  }

  static int update(Connection connection, String change, Object... values) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(change)) {
      set(statement, values);
      return statement.executeUpdate();
    }
  }

  static void set(PreparedStatement statement, @Nullable Object... values) throws SQLException {
    for (int i = 0; i < values.length; i++) {
      switch (values[i]) {
        case Long number -> statement.setLong(i + 1, number);
        case null -> statement.setNull(i + 1, Types.VARCHAR);
        default -> statement.setString(i + 1, (String) values[i]);
      }
    }
  }
}
