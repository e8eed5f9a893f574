package dev.weft.im;

import dev.weft.testkit.Feature;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Conversations over PostgreSQL. */
@Feature("A4")
class ImPostgresTest extends Conversations {
  private static ServerProcess postgres;

  @BeforeAll
  static void startPostgres() throws Exception {
    postgres = ServerProcess.start("postgres");
  }

  @AfterAll
  static void stopPostgres() throws Exception {
    if (postgres != null) {
      postgres.close();
    }
  }

  @Override
  ImServer start() throws Exception {
    forgetAll(postgres);
    return ImServer.builder().database(postgres.url()).build().start();
  }

  static void forgetAll(ServerProcess postgres) throws Exception {
    try (Connection connection = DriverManager.getConnection(postgres.url());
        Statement statement = connection.createStatement()) {
      statement.execute(
          "DROP TABLE IF EXISTS im_counter, im_user, im_room, im_member, im_message, im_invite,"
              + " im_token, im_skeleton");
    }
  }
}
