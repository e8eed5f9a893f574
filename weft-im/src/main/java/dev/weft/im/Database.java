package dev.weft.im;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.im.Store.StoreException;
import dev.weft.sync.Semaphore;
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
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A database behind a pool of connections: plain JDBC, of which no wait holds a thread.
 *
 * <p>Sessions share some of the connections, first come, first served; the node's own fibers, of
 * which there are few, have the rest. So however many sessions ask, what was said is stored and
 * handed out.
 *
 * <p>An embedded database closes itself when a write fails, as on a full disk. It is then opened
 * again, every second until that works.
 *
 * <p>Whenever the file of an embedded database is opened, the ids that are given out begin behind a
 * gap. A message can be read before its transaction is forced; if that fails, or the power does,
 * the message is gone, but clients know it by its id, and no other message may get that.
 */
final class Database implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("dev.weft.im");

  private static final String H2 = "jdbc:h2:";

  /** How long a call waits for a connection before it fails. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** How long a session waits for its turn before its command fails. */
  private static final Duration LONGEST_QUEUE = Duration.ofSeconds(30);

  private static final Duration OPEN_AGAIN_EVERY = Duration.ofSeconds(1);
  private static final int FOR_SESSIONS = 8;

  /** The journal, the feed, the marks, the events and the presence: each makes one call at once. */
  private static final int FOR_NODE = 5;

  /** More ids than the one transaction that may be lost gives out. */
  private static final long GAP = 1000;

  /** What H2 says when it is closed, or cannot go on: see org.h2.api.ErrorCode. */
  private static final Set<Integer> H2_IS_BROKEN =
      Set.of(50000, 90007, 90028, 90030, 90031, 90098, 90108, 90121);

  /** What PostgreSQL says when its disk is full. */
  private static final String DISK_FULL = "53100";

  private static final int MOST_CAUSES = 20;
  private static final FiberOptions CALL = FiberOptions.named("im-database");

  /** Which part of the server makes a call. */
  enum Lane {
    SESSIONS,
    NODE
  }

  /** The pool, and what all lanes have in common. */
  private static final class Shared {
    private final HikariConfig config;
    private final Semaphore sessions = new Semaphore(FOR_SESSIONS);

    // true if calls wait for files, not for a server: that no hook can make a fiber's wait, so they
    // are made on helper threads
    private final boolean usesFiles;

    // whether a change of these files is forced to the disk before the call returns
    private final boolean forces;
    private final DiskSpace space;

    // held by each change of files, one at a time: see alone()
    private final ReentrantLock changing = new ReentrantLock(true);

    // true since a failure, until something works again: each trouble is told once
    private final AtomicBoolean troubled = new AtomicBoolean();
    private final ReentrantLock opening = new ReentrantLock();
    private final AtomicLong openedAgain = new AtomicLong(System.nanoTime());
    private volatile HikariDataSource pool;
    private volatile boolean closed;

    // what an embedded database closed itself with, until it is open again
    private volatile @Nullable SQLException broken;

    private Shared(HikariConfig config, boolean usesFiles, boolean forces, DiskSpace space) {
      this.config = config;
      this.usesFiles = usesFiles;
      this.forces = forces;
      this.space = space;
      this.pool = new HikariDataSource(config);
    }
  }

  private final Shared shared;
  private final Lane lane;

  private Database(Shared shared, Lane lane) {
    this.shared = shared;
    this.lane = lane;
  }

  /**
   * Opens one; throws if it cannot be reached.
   *
   * @param forces whether H2 forces each change of its file to the disk
   */
  static Database open(String url, boolean forces) {
    HikariConfig config = new HikariConfig();
    boolean isH2 = url.startsWith(H2);
    config.setJdbcUrl(isH2 ? withoutHookOfItsOwn(url) : url);
    config.setMaximumPoolSize(FOR_SESSIONS + FOR_NODE);
    config.setConnectionTimeout(PATIENCE.toMillis());
    config.setPoolName("weft-im");
    if (isH2) {
      config.setConnectionInitSql("SET WRITE_DELAY 0"); // a commit is written at once
    } else {
      config.addDataSourceProperty("socketTimeout", "30"); // seconds, for a server that is stuck
      config.addDataSourceProperty("tcpKeepAlive", "true");
    }
    try {
      boolean usesFiles = isH2 && !url.startsWith("jdbc:h2:mem:");
      DiskSpace space = usesFiles ? DiskSpace.of(url) : DiskSpace.unlimited();
      return new Database(new Shared(config, usesFiles, usesFiles && forces, space), Lane.SESSIONS);
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

  /** Returns whether it is H2, else it is PostgreSQL: they use indexes in different ways. */
  boolean isH2() {
    return shared.config.getJdbcUrl().startsWith(H2);
  }

  /** Returns the same database for calls of a lane. */
  Database inLane(Lane other) {
    return new Database(shared, other);
  }

  @Override
  public void close() {
    shared.opening.lock();
    try {
      shared.closed = true;
      shared.pool.close();
    } finally {
      shared.opening.unlock();
    }
  }

  // ---- calls ----

  interface Work<T> {
    T with(Connection connection) throws SQLException;
  }

  interface Reader<T> {
    T read(ResultSet row) throws SQLException;
  }

  /**
   * Makes the tables, also on a disk that is full: they may be there. They are forced, and with
   * them the header of a new file, without which H2 cannot open it again.
   *
   * @param preparation returns whether there was nothing before
   */
  void prepare(Work<Boolean> preparation) {
    call(
        "make the tables",
        thenForced(
            connection -> {
              boolean isNew = preparation.with(connection);
              return isNew || !shared.usesFiles || leaveGap(connection);
            }));
  }

  private static boolean leaveGap(Connection connection) throws SQLException {
    return inTransaction(
        connection,
        within -> update(within, "UPDATE im_counter SET last_id = last_id + ?", GAP) == 1);
  }

  <T> List<T> ask(String question, Reader<T> reader, @Nullable Object... values) {
    return call("read", connection -> ask(connection, question, reader, values));
  }

  /** Asks several questions over one connection. */
  <T> T read(Work<T> work) {
    return call("read", work);
  }

  /** Changes something, if there is room on the disk. */
  <T> T change(String doing, Work<T> work) {
    if (shared.space.isShort()) {
      throw diskIsFull(doing, null);
    }
    return call(doing, shared.usesFiles ? alone(thenForced(work)) : work);
  }

  /**
   * Returns work that no other change runs beside. If a write of H2 fails, as on a full disk, the
   * committing thread closes the database under the lock of the store, and waits for the lock of
   * the database; {@code CHECKPOINT SYNC} and {@code SHUTDOWN IMMEDIATELY} of another thread take
   * these in the other order, and both threads would wait for ever.
   */
  private <T> Work<T> alone(Work<T> work) {
    return connection -> {
      shared.changing.lock();
      try {
        return work.with(connection);
      } finally {
        shared.changing.unlock();
      }
    };
  }

  /**
   * Returns work that forces its change to the disk. H2 never does that by itself while it is open:
   * what was not forced may be lost when the power fails, and the order of its writes with it, so
   * that H2 may not open the file again.
   */
  private <T> Work<T> thenForced(Work<T> work) {
    return shared.forces
        ? connection -> {
          T result = work.with(connection);
          update(connection, "CHECKPOINT SYNC");
          return result;
        }
        : work;
  }

  /** Makes a change that takes place as a whole, or not at all. */
  <T> T changeWhole(String doing, Work<T> work) {
    return change(doing, connection -> inTransaction(connection, work));
  }

  private static <T> T inTransaction(Connection connection, Work<T> work) throws SQLException {
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
  }

  /**
   * Calls in a fiber of its own for a session: the stack of a driver is deep, and its thread locals
   * stay; a session that waits for its client would keep both.
   */
  private <T> T call(String doing, Work<T> work) {
    Optional<Scheduler> scheduler = lane == Lane.SESSIONS ? Scheduler.current() : Optional.empty();
    if (scheduler.isEmpty()) {
      return callHere(doing, work);
    }
    Fiber<T> calling = scheduler.get().go(CALL, () -> callHere(doing, work));
    try {
      return calling.join();
    } catch (InterruptedException e) {
      calling.cancel();
      Thread.currentThread().interrupt();
      throw new StoreException("cannot " + doing + ": interrupted", e);
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  private <T> T callHere(String doing, Work<T> work) {
    if (shared.broken != null) {
      openAgain();
    }
    SQLException broken = shared.broken;
    if (broken != null) {
      throw failure(doing, broken);
    }
    boolean queues = lane == Lane.SESSIONS;
    if (queues) {
      queue(doing);
    }
    try {
      T result =
          shared.usesFiles ? Weft.blocking(() -> withConnection(work)) : withConnection(work);
      if (shared.troubled.get() && shared.troubled.compareAndSet(true, false)) {
        LOG.log(Level.INFO, "the database works again");
      }
      return result;
    } catch (SQLException e) {
      if (shared.troubled.compareAndSet(false, true)) {
        LOG.log(Level.WARNING, "cannot " + doing + ": the database fails; told once", e);
      }
      if (shared.usesFiles && isBroken(e)) {
        shared.broken = e;
      }
      throw failure(doing, e);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("work with a database throws SQLException alone", e);
    } finally {
      if (queues) {
        shared.sessions.release();
      }
    }
  }

  private void queue(String doing) {
    try {
      if (!shared.sessions.tryAcquire(LONGEST_QUEUE)) {
        throw new StoreException(
            "cannot %s: too many wait for the database".formatted(doing),
            "the database is busy; try again later",
            null);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreException("cannot " + doing + ": interrupted", e);
    }
  }

  private <T> T withConnection(Work<T> work) throws SQLException {
    try (Connection connection = shared.pool.getConnection()) {
      return work.with(connection);
    }
  }

  private static StoreException failure(String doing, SQLException e) {
    return isDiskFull(e)
        ? diskIsFull(doing, e)
        : new StoreException("cannot " + doing + ": " + e.getMessage(), e);
  }

  private static StoreException diskIsFull(String doing, @Nullable Throwable cause) {
    return new StoreException(
        "cannot " + doing + ": the disk is full",
        "the disk of the server is full, so this was not done; try again later",
        cause);
  }

  private static boolean isDiskFull(SQLException e) {
    return DISK_FULL.equals(e.getSQLState())
        || causes(e)
            .map(cause -> String.valueOf(cause.getMessage()))
            .anyMatch(text -> text.contains("No space left") || text.contains("quota exceeded"));
  }

  /** Returns it and what caused it; H2's causes may go round in a circle. */
  private static Stream<Throwable> causes(SQLException e) {
    return Stream.<@Nullable Throwable>iterate(e, cause -> cause == null ? null : cause.getCause())
        .limit(MOST_CAUSES)
        .filter(Objects::nonNull)
        .map(Objects::requireNonNull);
  }

  // ---- an embedded database that has closed itself ----

  /** Returns whether H2 said so, or the pool, which tells as the cause why it has no connection. */
  private static boolean isBroken(SQLException e) {
    return causes(e)
        .anyMatch(
            cause ->
                cause instanceof SQLException sql && H2_IS_BROKEN.contains(sql.getErrorCode()));
  }

  private void openAgain() {
    long last = shared.openedAgain.get();
    long now = System.nanoTime();
    if (now - last < OPEN_AGAIN_EVERY.toNanos()
        || !shared.openedAgain.compareAndSet(last, now)
        || !shared.opening.tryLock()) {
      return;
    }
    try {
      if (!shared.closed) {
        Weft.blocking(this::replacePool);
        LOG.log(Level.INFO, "the database was opened again");
      }
    } catch (Exception e) {
      LOG.log(Level.DEBUG, "the database cannot be opened again yet", e);
    } finally {
      shared.openedAgain.set(System.nanoTime());
      shared.opening.unlock();
    }
  }

  private void replacePool() throws SQLException {
    try (Connection connection = shared.pool.getConnection()) {
      // it may only seem to be open; what was committed is in the file
      alone(within -> update(within, "SHUTDOWN IMMEDIATELY")).with(connection);
    } catch (SQLException e) {
      // it is closed, as it should be now
    }
    shared.pool.close();
    HikariDataSource fresh = new HikariDataSource(shared.config);
    try (Connection connection = fresh.getConnection()) {
      thenForced(Database::leaveGap).with(connection);
    } catch (SQLException | RuntimeException e) {
      fresh.close();
      throw e;
    }
    shared.pool = fresh;
    shared.broken = null;
  }

  // ---- within a call ----

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
        case Boolean flag -> statement.setBoolean(i + 1, flag);
        case null -> statement.setNull(i + 1, Types.VARCHAR);
        default -> statement.setString(i + 1, (String) values[i]);
      }
    }
  }
}
