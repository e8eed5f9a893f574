//DEPS io.javalin:javalin:6.7.0
//DEPS com.zaxxer:HikariCP:7.1.0
//DEPS com.h2database:h2:2.5.252
//DEPS org.slf4j:slf4j-nop:2.0.19

import com.zaxxer.hikari.HikariDataSource;
import dev.weft.Fiber;
import io.javalin.Javalin;
import java.sql.SQLException;

/**
 * Javalin with a virtual thread for each request: ./weft run Javalin6.java. It prints its port;
 * /hello, /sleep and /jdbc answer "hello, world".
 */
public class Javalin6 {
  private final HikariDataSource database = new HikariDataSource();

  Javalin6() throws SQLException {
    database.setJdbcUrl("jdbc:h2:mem:greetings");
    try (var connection = database.getConnection();
        var statement = connection.createStatement()) {
      statement.execute("create table greeting (id int primary key, text varchar(100))");
      statement.execute("insert into greeting values (1, 'hello, world')");
    }
  }

  private static String slept(int millis) throws InterruptedException {
    Thread.sleep(millis);
    return "hello, world";
  }

  /** Long enough to be under way when the program is told to end. */
  private static String slow() throws InterruptedException {
    System.out.println("@slow");
    return slept(1_000);
  }

  private String greeting() throws SQLException {
    try (var connection = database.getConnection();
        var query = connection.prepareStatement("select text from greeting where id = ?")) {
      query.setInt(1, 1);
      try (var rows = query.executeQuery()) {
        rows.next();
        return rows.getString(1);
      }
    }
  }

  Javalin start() {
    return Javalin.create(
            config -> {
              config.useVirtualThreads = true;
              config.showJavalinBanner = false;
            })
        .get("/hello", context -> context.result("hello, world"))
        .get("/sleep", context -> context.result(slept(5)))
        .get("/slow", context -> context.result(slow()))
        .get("/jdbc", context -> context.result(greeting()))
        .get("/fiber", context -> context.result(Fiber.current().toString()))
        .start("127.0.0.1", 0);
  }

  public static void main(String[] args) throws SQLException {
    Javalin server = new Javalin6().start();
    Runtime.getRuntime().addShutdownHook(new Thread(server::stop));
    System.out.println("@port " + server.port());
  }
}
