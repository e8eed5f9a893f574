package dev.weft.im;

import dev.weft.im.Message.Draft;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A store in a database: H2 or PostgreSQL, over JDBC and a pool.
 *
 * <p>Why ids are in the order of commits: the last id is a row, which a transaction raises first
 * and so keeps locked until it has committed. The next one gets the row, and its larger ids, only
 * after that. A sequence would be quicker, but gives out ids in another order than transactions
 * commit: a reader could see 8, move on, and miss 7. What the lock costs is little: a node stores
 * all that waits in one transaction (see {@link Journal}). Joins take the lock too: so a member is
 * one for all messages after an exact id.
 */
final class SqlStore implements Store {
  private static final String UNIQUE_VIOLATION = "23505";
  private static final String MESSAGE = "m.id, m.sent, m.room, m.sender, m.recipient, m.body";

  private final Database database;

  /**
   * Opens a database, and makes the tables if they are not there.
   *
   * @throws StoreException if it cannot be reached
   */
  static SqlStore open(String url) {
    Database database = Database.open(url);
    try {
      database.run("make the tables", Schema::make);
      return new SqlStore(database);
    } catch (StoreException e) {
      database.close();
      throw e;
    }
  }

  private SqlStore(Database database) {
    this.database = database;
  }

  // ---- users ----

  @Override
  public boolean addUser(String name, String secret) {
    return database.call(
        "add a user",
        connection -> {
          try {
            Database.update(connection, "INSERT INTO im_user VALUES (?, ?, 0)", name, secret);
            return true;
          } catch (SQLException e) {
            if (UNIQUE_VIOLATION.equals(e.getSQLState())) {
              return false;
            }
            throw e;
          }
        });
  }

  @Override
  public Optional<String> secret(String name) {
    return database
        .ask("SELECT secret FROM im_user WHERE name = ?", row -> row.getString(1), name)
        .stream()
        .findFirst();
  }

  @Override
  public long mark(String name) {
    return database
        .ask("SELECT delivered FROM im_user WHERE name = ?", row -> row.getLong(1), name)
        .stream()
        .findFirst()
        .orElse(0L);
  }

  @Override
  public void raiseMarks(Map<String, Long> marks) {
    database.inTransaction(
        "store what was delivered",
        connection -> {
          try (PreparedStatement raise =
              connection.prepareStatement(
                  "UPDATE im_user SET delivered = ? WHERE name = ? AND delivered < ?")) {
            // sorted: two nodes that lock users in different orders would wait for each other
            for (Map.Entry<String, Long> mark : new TreeMap<>(marks).entrySet()) {
              Database.set(raise, mark.getValue(), mark.getKey(), mark.getValue());
              raise.addBatch();
            }
            return raise.executeBatch();
          }
        });
  }

  // ---- rooms ----

  @Override
  public void join(String name, String room) {
    database.inTransaction(
        "join a room",
        connection -> {
          long since = raiseLastId(connection, 0);
          Database.update(
              connection,
              "INSERT INTO im_room SELECT CAST(? AS VARCHAR(64))"
                  + " WHERE NOT EXISTS (SELECT 1 FROM im_room WHERE name = ?)",
              room,
              room);
          return Database.update(
              connection,
              "INSERT INTO im_member SELECT CAST(? AS VARCHAR(64)), CAST(? AS VARCHAR(64)),"
                  + " CAST(? AS BIGINT)"
                  + " WHERE NOT EXISTS (SELECT 1 FROM im_member WHERE room = ? AND name = ?)",
              room,
              name,
              since,
              room,
              name);
        });
  }

  @Override
  public boolean leave(String name, String room) {
    return database.call(
            "leave a room",
            connection ->
                Database.update(
                    connection, "DELETE FROM im_member WHERE room = ? AND name = ?", room, name))
        > 0;
  }

  @Override
  public boolean isMember(String name, String room) {
    return !database
        .ask("SELECT 1 FROM im_member WHERE room = ? AND name = ?", row -> true, room, name)
        .isEmpty();
  }

  @Override
  public boolean roomExists(String room) {
    return !database.ask("SELECT 1 FROM im_room WHERE name = ?", row -> true, room).isEmpty();
  }

  @Override
  public List<String> rooms(String name) {
    return database.ask(
        "SELECT room FROM im_member WHERE name = ? ORDER BY room", row -> row.getString(1), name);
  }

  @Override
  public Map<String, Long> members(String room) {
    Map<String, Long> members = new LinkedHashMap<>();
    database.ask(
        "SELECT name, since FROM im_member WHERE room = ? ORDER BY name",
        row -> members.put(row.getString(1), row.getLong(2)) == null,
        room);
    return members;
  }

  @Override
  public List<String> peers(String name) {
    return database.ask(
        "SELECT DISTINCT other.name FROM im_member mine JOIN im_member other"
            + " ON other.room = mine.room WHERE mine.name = ? AND other.name <> ?",
        row -> row.getString(1),
        name,
        name);
  }

  // ---- messages ----

  @Override
  public long append(List<Draft> drafts) {
    return database.inTransaction(
        "store a message",
        connection -> {
          long last = raiseLastId(connection, drafts.size());
          long id = last - drafts.size();
          long now = System.currentTimeMillis();
          try (PreparedStatement insert =
              connection.prepareStatement("INSERT INTO im_message VALUES (?, ?, ?, ?, ?, ?)")) {
            for (Draft draft : drafts) {
              Database.set(
                  insert, ++id, now, draft.room(), draft.sender(), draft.recipient(), draft.text());
              insert.addBatch();
            }
            insert.executeBatch();
          }
          return last;
        });
  }

  /** Locks the row of the last id until the end of the transaction; returns the new last one. */
  private static long raiseLastId(Connection connection, int by) throws SQLException {
    Database.update(connection, "UPDATE im_counter SET last_id = last_id + ?", (long) by);
    return Database.ask(connection, "SELECT last_id FROM im_counter", row -> row.getLong(1))
        .getFirst();
  }

  @Override
  public long lastId() {
    return database.ask("SELECT last_id FROM im_counter", row -> row.getLong(1)).getFirst();
  }

  @Override
  public List<Message> after(long id, int limit) {
    return database.ask(
        "SELECT " + MESSAGE + " FROM im_message m WHERE id > ? ORDER BY id LIMIT ?",
        SqlStore::message,
        id,
        (long) limit);
  }

  @Override
  public List<Message> missed(String name, long after, long upTo, int limit) {
    String range = " AND m.id > ? AND m.id <= ?";
    return database.ask(
        "SELECT "
            + MESSAGE
            + " FROM im_member mine JOIN im_message m"
            + " ON m.room = mine.room AND m.id > mine.since WHERE mine.name = ?"
            + range
            + " UNION ALL SELECT "
            + MESSAGE
            + " FROM im_message m WHERE m.recipient = ?"
            + range
            + " UNION ALL SELECT "
            + MESSAGE
            + " FROM im_message m"
            + " WHERE m.sender = ? AND m.room IS NULL AND m.recipient <> ?"
            + range
            + " ORDER BY id LIMIT ?",
        SqlStore::message,
        name,
        after,
        upTo,
        name,
        after,
        upTo,
        name,
        name,
        after,
        upTo,
        (long) limit);
  }

  @Override
  public List<Message> ofRoom(String room, long before, int count) {
    return database
        .ask(
            "SELECT "
                + MESSAGE
                + " FROM im_message m WHERE room = ? AND id < ?"
                + " ORDER BY id DESC LIMIT ?",
            SqlStore::message,
            room,
            before,
            (long) count)
        .reversed();
  }

  @Override
  public List<Message> between(String name, String other, long before, int count) {
    return database
        .ask(
            "SELECT "
                + MESSAGE
                + " FROM im_message m WHERE ((sender = ? AND recipient = ?)"
                + " OR (sender = ? AND recipient = ?)) AND id < ? ORDER BY id DESC LIMIT ?",
            SqlStore::message,
            name,
            other,
            other,
            name,
            before,
            (long) count)
        .reversed();
  }

  private static Message message(ResultSet row) throws SQLException {
    return new Message(
        row.getLong(1),
        row.getLong(2),
        row.getString(3),
        row.getString(4),
        row.getString(5),
        row.getString(6));
  }

  @Override
  public void close() {
    database.close();
  }
}
