package dev.weft.bench.im;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;

/**
 * The users and rooms of a load, written into the server's database, each user with a token. To
 * register ten thousand users would compute as many hashes of passwords, which is made slow on
 * purpose; clients that come back after a restart of the server use tokens as well.
 */
record Population(int clients, int rooms) {
  private static final long EXPIRES = Long.MAX_VALUE / 2;

  static String user(int client) {
    return "user-%05d".formatted(client);
  }

  static String token(int client) {
    return "load-test-token-of-user-%05d".formatted(client);
  }

  String room(int client) {
    return roomNamed(client % rooms);
  }

  static String roomNamed(int room) {
    return "room-%03d".formatted(room);
  }

  /**
   * Fills the tables, which the server has made.
   *
   * @param jars those of the server, for its JDBC drivers
   */
  void write(List<Path> jars, String url) throws IOException, SQLException {
    try (Connection database = connect(jars, url)) {
      database.setAutoCommit(false);
      try (PreparedStatement room =
              database.prepareStatement(
                  "INSERT INTO im_room (name, is_private) VALUES (?, FALSE)");
          PreparedStatement user =
              database.prepareStatement("INSERT INTO im_user VALUES (?, 'none', 0)");
          PreparedStatement member =
              database.prepareStatement("INSERT INTO im_member VALUES (?, ?, 0)");
          PreparedStatement token =
              database.prepareStatement("INSERT INTO im_token VALUES (?, ?, " + EXPIRES + ")")) {
        for (int i = 0; i < rooms; i++) {
          add(room, roomNamed(i));
        }
        room.executeBatch();
        for (int i = 0; i < clients; i++) {
          add(user, user(i));
          add(member, room(i), user(i));
          add(token, digest(token(i)), user(i));
        }
        user.executeBatch();
        member.executeBatch();
        token.executeBatch();
      }
      database.commit();
    }
  }

  private static Connection connect(List<Path> jars, String url) throws IOException, SQLException {
    List<URL> urls = new ArrayList<>();
    for (Path file : jars) {
      urls.add(file.toUri().toURL());
    }
    String driver = url.startsWith("jdbc:h2:") ? "org.h2.Driver" : "org.postgresql.Driver";
    try {
      // not closed: the driver loads classes until the process ends
      @SuppressWarnings("resource")
      ClassLoader loader = new URLClassLoader(urls.toArray(URL[]::new));
      Driver made = (Driver) loader.loadClass(driver).getDeclaredConstructor().newInstance();
      return made.connect(url, new Properties());
    } catch (ReflectiveOperationException e) {
      throw new IOException("there is no " + driver + " in " + jars, e);
    }
  }

  private static void add(PreparedStatement statement, String... values) throws SQLException {
    for (int i = 0; i < values.length; i++) {
      statement.setString(i + 1, values[i]);
    }
    statement.addBatch();
  }

  /**
   * Returns what the server stores of a token. Written here again, as the names of the tables are:
   * the server that is measured may be that of another commit.
   */
  private static String digest(String token) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
