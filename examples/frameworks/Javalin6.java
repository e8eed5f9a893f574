//DEPS io.javalin:javalin:6.7.0
//DEPS com.zaxxer:HikariCP:7.1.0
//DEPS com.h2database:h2:2.5.252
//DEPS org.slf4j:slf4j-nop:2.0.19

import com.zaxxer.hikari.HikariDataSource;
import dev.weft.Fiber;
import io.javalin.Javalin;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.SQLException;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.StatisticsHandler;

/**
 * Javalin with a virtual thread for each request: ./weft run Javalin6.java [SERVICE]. It prints its
 * port. /hello, /sleep (5 ms), /sleep20, /slow (a second) and /jdbc answer "hello, world", /call
 * what the service at the URL SERVICE answers, /fiber the fiber that serves the request.
 */
public class Javalin6 {
  private final HikariDataSource database = new HikariDataSource();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI service;

  Javalin6(URI service) throws SQLException {
    this.service = service;
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

  /** Asks another service and waits for its answer. */
  private String call() throws IOException, InterruptedException {
    return client.send(HttpRequest.newBuilder(service).build(), BodyHandlers.ofString()).body();
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
              config.jetty.modifyServer(Javalin6::letRequestsEnd);
            })
        .get("/hello", context -> context.result("hello, world"))
        .get("/sleep", context -> context.result(slept(5)))
        .get("/sleep20", context -> context.result(slept(20)))
        .get("/slow", context -> context.result(slow()))
        .get("/jdbc", context -> context.result(greeting()))
        .get("/call", context -> context.result(call()))
        .get("/fiber", context -> context.result(Fiber.current().toString()))
        .start("127.0.0.1", 0);
  }

  /** Has the server wait, as it stops, for requests that are under way. */
  private static void letRequestsEnd(Server server) {
    server.setHandler(new StatisticsHandler());
    server.setStopTimeout(5_000);
  }

  /** The other service, which /call asks, is the argument. */
  private static URI serviceOf(String[] args) {
    return URI.create(args.length > 0 ? args[0] : "http://localhost:8080/");
  }

  public static void main(String[] args) throws SQLException {
    Javalin server = new Javalin6(serviceOf(args)).start();
    Runtime.getRuntime().addShutdownHook(new Thread(server::stop));
    System.out.println("@port " + server.port());
  }
}
