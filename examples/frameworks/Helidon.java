//DEPS io.helidon.webserver:helidon-webserver:4.5.0
//DEPS com.zaxxer:HikariCP:7.1.0
//DEPS com.h2database:h2:2.5.252
//DEPS org.slf4j:slf4j-nop:2.0.19

import com.zaxxer.hikari.HikariDataSource;
import dev.weft.Fiber;
import io.helidon.webserver.WebServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Helidon, which has a virtual thread for each connection: ./weft run Helidon.java [SERVICE]. It
 * prints its port. /hello, /sleep (5 ms), /sleep20, /slow (a second) and /jdbc answer "hello,
 * world", /call what the service at the URL SERVICE answers, /fiber the fiber that serves the
 * request.
 */
public class Helidon {
  private final HikariDataSource database = new HikariDataSource();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI service;

  Helidon(URI service) throws SQLException {
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

  WebServer start() {
    return WebServer.builder()
        .address(InetAddress.getLoopbackAddress())
        .shutdownGracePeriod(Duration.ofSeconds(5))
        .routing(
            routing ->
                routing
                    .get("/hello", (request, response) -> response.send("hello, world"))
                    .get("/sleep", (request, response) -> response.send(slept(5)))
                    .get("/sleep20", (request, response) -> response.send(slept(20)))
                    .get("/slow", (request, response) -> response.send(slow()))
                    .get("/jdbc", (request, response) -> response.send(greeting()))
                    .get("/call", (request, response) -> response.send(call()))
                    .get("/fiber", (request, response) -> response.send(Fiber.current().toString())))
        .build()
        .start();
  }

  /** The other service, which /call asks, is the argument. */
  private static URI serviceOf(String[] args) {
    return URI.create(args.length > 0 ? args[0] : "http://localhost:8080/");
  }

  public static void main(String[] args) throws SQLException {
    Logger.getLogger("io.helidon").setLevel(Level.WARNING);
    System.out.println("@port " + new Helidon(serviceOf(args)).start().port());
  }
}
