package dev.weft.im;

import dev.weft.im.Database.Lane;
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
 * commit: a reader could see 8, move on, and miss 7. The lock costs little: a node stores all
 * waiting messages in one transaction (see {@link Journal}). Joins take the lock too, so a user is
 * a member for exactly the messages after one id.
 */
final class SqlStore implements Store {
  private static final String UNIQUE_VIOLATION = "23505";
  private static final String USER = "user";
  private static final String ROOM = "room";
  private static final String HAS_SKELETON =
      "SELECT 1 FROM im_skeleton WHERE kind = ? AND skeleton = ?";
  private static final String ADD_SKELETON = "INSERT INTO im_skeleton VALUES (?, ?, ?)";
  private static final String IS_MEMBER = "SELECT 1 FROM im_member WHERE room = ? AND name = ?";
  private static final long MOST_TOKENS = 20;

  /** What is read at once: so many rows, of which so many bytes are kept. */
  private static final long PAGE_ROWS = 200;

  static final long PAGE_BYTES = 64 * 1024;

  static final String MESSAGE = "m.id, m.sent, m.room, m.sender, m.recipient, m.body";

  private final Database database;

  /** Opens a database of which H2 forces each change. */
  static SqlStore open(String url) {
    return open(url, true);
  }

  /**
   * Opens a database, and makes the tables if they are not there.
   *
   * @param forces whether H2 forces each change of its file to the disk
   * @throws StoreException if it cannot be reached
   */
  static SqlStore open(String url, boolean forces) {
    Database database = Database.open(url, forces);
    try {
      database.prepare(Schema::make);
      return new SqlStore(database, Lane.SESSIONS);
    } catch (StoreException e) {
      database.close();
      throw e;
    }
  }

  private SqlStore(Database database, Lane lane) {
    this.database = database.inLane(lane);
  }

  @Override
  public Store ofNode() {
    return new SqlStore(database, Lane.NODE);
  }

  // ---- users ----

  @Override
  public boolean addUser(String name, String skeleton, String secret) {
    return database.changeWhole(
        "add a user",
        connection -> {
          try {
            Database.update(connection, "INSERT INTO im_user VALUES (?, ?, 0)", name, secret);
            Database.update(connection, ADD_SKELETON, USER, skeleton, name);
            return true;
          } catch (SQLException e) {
            if (UNIQUE_VIOLATION.equals(e.getSQLState())) {
              connection.rollback();
              return false;
            }
            throw e;
          }
        });
  }

  @Override
  public Optional<String> userLike(String skeleton) {
    return database
        .ask(
            "SELECT name FROM im_skeleton WHERE kind = ? AND skeleton = ?",
            row -> row.getString(1),
            USER,
            skeleton)
        .stream()
        .findFirst();
  }

  @Override
  public void setSecret(String name, String secret) {
    database.change(
        "store a password",
        connection ->
            Database.update(
                connection, "UPDATE im_user SET secret = ? WHERE name = ?", secret, name));
  }

  @Override
  public void addToken(String digest, String name, long expires) {
    database.changeWhole(
        "store a token",
        connection -> {
          Database.update(
              connection,
              "DELETE FROM im_token WHERE digest = ? OR (name = ? AND expires <="
                  + " (SELECT expires FROM im_token WHERE name = ? ORDER BY expires DESC"
                  + " LIMIT 1 OFFSET ?))",
              digest,
              name,
              name,
              MOST_TOKENS - 1);
          return Database.update(
              connection, "INSERT INTO im_token VALUES (?, ?, ?)", digest, name, expires);
        });
  }

  @Override
  public Optional<Token> token(String digest) {
    return database
        .ask(
            "SELECT name, expires FROM im_token WHERE digest = ?",
            row -> new Token(row.getString(1), row.getLong(2)),
            digest)
        .stream()
        .findFirst();
  }

  @Override
  public void removeToken(String digest) {
    database.change(
        "remove a token",
        connection -> Database.update(connection, "DELETE FROM im_token WHERE digest = ?", digest));
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
    database.changeWhole(
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
  public Joining join(String name, String room, String skeleton) {
    return enter(name, room, skeleton, false);
  }

  @Override
  public Joining makePrivate(String name, String room, String skeleton) {
    return enter(name, room, skeleton, true);
  }

  /** The lock of the last id keeps all others from making or joining a room at the same time. */
  private Joining enter(String name, String room, String skeleton, boolean asPrivate) {
    return database.changeWhole(
        "join a room",
        connection -> {
          long since = raiseLastId(connection, 0);
          List<Boolean> isPrivate =
              Database.ask(
                  connection,
                  "SELECT is_private FROM im_room WHERE name = ?",
                  row -> row.getBoolean(1),
                  room);
          if (isPrivate.isEmpty()) {
            if (!exists(connection, HAS_SKELETON, ROOM, skeleton)) {
              Database.update(connection, ADD_SKELETON, ROOM, skeleton, room);
              Database.update(
                  connection,
                  "INSERT INTO im_room (name, is_private) VALUES (?, ?)",
                  room,
                  asPrivate);
            } else {
              return Joining.LOOKS_LIKE_ANOTHER;
            }
          } else if (asPrivate) {
            return Joining.EXISTS;
          } else if (exists(connection, IS_MEMBER, room, name)) {
            return Joining.ALREADY_MEMBER;
          } else if (isPrivate.getFirst()
              && Database.update(
                      connection, "DELETE FROM im_invite WHERE room = ? AND name = ?", room, name)
                  == 0) {
            return Joining.NOT_INVITED;
          }
          Database.update(connection, "INSERT INTO im_member VALUES (?, ?, ?)", room, name, since);
          return Joining.JOINED;
        });
  }

  private static boolean exists(Connection connection, String question, Object... values)
      throws SQLException {
    return !Database.ask(connection, question, row -> true, values).isEmpty();
  }

  @Override
  public boolean invite(String name, String room) {
    return database.changeWhole(
        "invite a user",
        connection -> {
          raiseLastId(connection, 0); // no JOIN at the same time
          if (exists(connection, IS_MEMBER, room, name)
              || exists(
                  connection, "SELECT 1 FROM im_invite WHERE room = ? AND name = ?", room, name)) {
            return false;
          }
          Database.update(connection, "INSERT INTO im_invite VALUES (?, ?)", room, name);
          return true;
        });
  }

  @Override
  public List<String> invitations(String name) {
    return database.ask(
        "SELECT room FROM im_invite WHERE name = ? ORDER BY room", row -> row.getString(1), name);
  }

  @Override
  public boolean leave(String name, String room) {
    return database.change(
            "leave a room",
            connection ->
                Database.update(
                    connection, "DELETE FROM im_member WHERE room = ? AND name = ?", room, name))
        > 0;
  }

  @Override
  public boolean isMember(String name, String room) {
    return !database.ask(IS_MEMBER, row -> true, room, name).isEmpty();
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
    return database.changeWhole(
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
  public Page after(long id) {
    return page(
        database.ask(
            "SELECT " + MESSAGE + " FROM im_message m WHERE id > ? ORDER BY id LIMIT ?",
            SqlStore::message,
            id,
            PAGE_ROWS));
  }

  /** Keeps of what was read as much as a client's share of memory allows, but one at least. */
  private static Page page(List<Message> read) {
    long bytes = 0;
    int count = 0;
    while (count < read.size() && (count == 0 || bytes < PAGE_BYTES)) {
      bytes += LineBudget.costOf(read.get(count).text());
      count++;
    }
    return new Page(
        List.copyOf(read.subList(0, count)), count < read.size() || read.size() == PAGE_ROWS);
  }

  @Override
  public Page missed(String name, long after, long upTo) {
    boolean isH2 = database.isH2();
    return database.read(
        connection -> new MissedMessages(connection, isH2, name, after, upTo).read());
  }

  @Override
  public List<Direct> directs(String name, int limit) {
    return database.ask(
        "SELECT peer, MAX(id) AS latest FROM ("
            + "SELECT recipient AS peer, MAX(id) AS id FROM im_message"
            + " WHERE sender = ? AND recipient IS NOT NULL GROUP BY recipient"
            + " UNION ALL SELECT sender AS peer, MAX(id) AS id FROM im_message"
            + " WHERE recipient = ? GROUP BY sender) AS directs"
            + " GROUP BY peer ORDER BY latest DESC LIMIT ?",
        row -> new Direct(row.getString(1), row.getLong(2)),
        name,
        name,
        (long) limit);
  }

  @Override
  public List<Message> ofRoom(String room, long before, int count) {
    return database
        .ask(
            ("SELECT %s FROM im_message m WHERE room %s ? AND id < ? AND (room, id) < (?, ?)"
                    + " ORDER BY room DESC, id DESC LIMIT ?")
                .formatted(MESSAGE, from(database.isH2())),
            SqlStore::message,
            room,
            before,
            room,
            before,
            (long) count)
        .reversed();
  }

  /** Each direction by itself: over an OR of both no index has the ids in order. */
  @Override
  public List<Message> between(String name, String other, long before, int count) {
    String oneWay =
        ("(SELECT %s FROM im_message m WHERE sender = ? AND recipient %s ? AND id < ?"
                + " AND (recipient, id) < (?, ?)"
                + " ORDER BY sender DESC, recipient DESC, id DESC LIMIT ?)")
            .formatted(MESSAGE, from(database.isH2()));
    long most = count;
    return database
        .ask(
            oneWay + " UNION " + oneWay + " ORDER BY id DESC LIMIT ?",
            SqlStore::message,
            name,
            other,
            before,
            other,
            before,
            most,
            other,
            name,
            before,
            name,
            before,
            most,
            most)
        .reversed();
  }

  /**
   * Returns how to compare a column with a value so that the messages with this value come in the
   * order of their ids, by the index of both: from the first that is wanted on, and no further than
   * a LIMIT goes. The condition goes on with {@code id > ? AND (column, id) > (value, ?)}, and
   * ORDER BY names all columns of the index.
   *
   * <p>H2 uses the order of an index after an equality, and begins where {@code id > ?} says.
   * PostgreSQL leaves a column out of ORDER BY after an equality, and then may take the index of
   * the ids alone, and pass the messages of all other rooms; after {@code <=} it cannot, and begins
   * where the comparison of both columns says.
   */
  static String upTo(boolean isH2) {
    return isH2 ? "=" : "<=";
  }

  /** Returns the same for the order from the newest to the oldest. */
  private static String from(boolean isH2) {
    return isH2 ? "=" : ">=";
  }

  static Message message(ResultSet row) throws SQLException {
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
