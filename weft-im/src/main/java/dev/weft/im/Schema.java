package dev.weft.im;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** The tables, in words that H2 and PostgreSQL both know. */
final class Schema {
  private static final int ATTEMPTS = 10;

  /** How the state of an error begins if the connection is lost: no use to try again. */
  private static final String CONNECTION_LOST = "08";

  private static final List<String> TABLES =
      List.of(
          "CREATE TABLE IF NOT EXISTS im_counter (one INT PRIMARY KEY, last_id BIGINT NOT NULL)",
          "CREATE TABLE IF NOT EXISTS im_user (name VARCHAR(64) PRIMARY KEY,"
              + " secret VARCHAR(200) NOT NULL, delivered BIGINT NOT NULL)",
          "CREATE TABLE IF NOT EXISTS im_room (name VARCHAR(64) PRIMARY KEY)",
          "CREATE TABLE IF NOT EXISTS im_member (room VARCHAR(64) NOT NULL,"
              + " name VARCHAR(64) NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (room, name))",
          "CREATE INDEX IF NOT EXISTS im_member_name ON im_member (name)",
          "CREATE TABLE IF NOT EXISTS im_message (id BIGINT PRIMARY KEY, sent BIGINT NOT NULL,"
              + " room VARCHAR(64), sender VARCHAR(64) NOT NULL, recipient VARCHAR(64),"
              + " body VARCHAR(8192) NOT NULL)",
          "CREATE INDEX IF NOT EXISTS im_message_room ON im_message (room, id)",
          "CREATE INDEX IF NOT EXISTS im_message_to ON im_message (recipient, id)",
          "CREATE INDEX IF NOT EXISTS im_message_from ON im_message (sender, recipient, id)",
          "CREATE INDEX IF NOT EXISTS im_message_sent ON im_message (sender, room, id)",
          "ALTER TABLE im_room ADD COLUMN IF NOT EXISTS is_private BOOLEAN DEFAULT FALSE NOT NULL",
          "CREATE TABLE IF NOT EXISTS im_invite (room VARCHAR(64) NOT NULL,"
              + " name VARCHAR(64) NOT NULL, PRIMARY KEY (room, name))",
          "CREATE INDEX IF NOT EXISTS im_invite_name ON im_invite (name)",
          "CREATE TABLE IF NOT EXISTS im_token (digest VARCHAR(64) PRIMARY KEY,"
              + " name VARCHAR(64) NOT NULL, expires BIGINT NOT NULL)",
          "CREATE INDEX IF NOT EXISTS im_token_name ON im_token (name, expires)",
          "CREATE TABLE IF NOT EXISTS im_skeleton (kind VARCHAR(4) NOT NULL,"
              + " skeleton VARCHAR(1000) NOT NULL, name VARCHAR(64) NOT NULL,"
              + " PRIMARY KEY (kind, skeleton))",
          "INSERT INTO im_counter (one, last_id)"
              + " SELECT 1, 0 WHERE NOT EXISTS (SELECT 1 FROM im_counter)");

  private Schema() {}

  /**
   * Makes what is missing, and returns whether there was no counter, so no message either. Nodes
   * that start at once may get in each other's way, because neither database makes tables under a
   * lock: the second node fails in one of many ways, tries again, and finds them.
   */
  static boolean make(Connection connection) throws SQLException {
    int rows = 0; // of the last statement, which adds the counter
    for (String statement : TABLES) {
      for (int attempt = 1; ; attempt++) {
        try (Statement making = connection.createStatement()) {
          rows = making.executeUpdate(statement);
          break;
        } catch (SQLException e) {
          if (attempt == ATTEMPTS || String.valueOf(e.getSQLState()).startsWith(CONNECTION_LOST)) {
            throw e;
          }
        }
      }
    }
    connection.setAutoCommit(false); // the pool sets it back
    addSkeletons(connection, "user", "im_user");
    addSkeletons(connection, "room", "im_room");
    connection.commit();
    return rows == 1;
  }

  /** For names of a time when look-alikes were allowed: the first of them keeps the skeleton. */
  private static void addSkeletons(Connection connection, String kind, String table)
      throws SQLException {
    List<String> names =
        Database.ask(
            connection,
            "SELECT name FROM "
                + table
                + " t WHERE NOT EXISTS"
                + " (SELECT 1 FROM im_skeleton s WHERE s.kind = ? AND s.name = t.name)",
            row -> row.getString(1),
            kind);
    for (String name : names) {
      String skeleton = Names.skeleton(name);
      Database.update(
          connection,
          "INSERT INTO im_skeleton SELECT CAST(? AS VARCHAR(4)), CAST(? AS VARCHAR(1000)),"
              + " CAST(? AS VARCHAR(64)) WHERE NOT EXISTS"
              + " (SELECT 1 FROM im_skeleton WHERE kind = ? AND skeleton = ?)",
          kind,
          skeleton,
          name,
          kind,
          skeleton);
    }
  }
}
