//DEPS org.eclipse.jetty:jetty-server:12.1.14
//DEPS com.zaxxer:HikariCP:7.1.0
//DEPS com.h2database:h2:2.5.252
//DEPS org.slf4j:slf4j-nop:2.0.19

import com.zaxxer.hikari.HikariDataSource;
import dev.weft.Fiber;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.concurrent.Executors;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Jetty with a virtual thread for each request: ./weft run Jetty.java [SERVICE]. It prints its
 * port. /hello, /sleep (5 ms), /sleep20, /slow (a second) and /jdbc answer "hello, world", /call
 * what the service at the URL SERVICE answers, /fiber the fiber that serves the request.
 */
public class Jetty extends Handler.Abstract {
  private final HikariDataSource database = new HikariDataSource();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI service;

  Jetty(URI service) throws SQLException {
    this.service = service;
    database.setJdbcUrl("jdbc:h2:mem:greetings");
    try (var connection = database.getConnection();
        var statement = connection.createStatement()) {
      statement.execute("create table greeting (id int primary key, text varchar(100))");
      statement.execute("insert into greeting values (1, 'hello, world')");
    }
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    String text =
        switch (Request.getPathInContext(request)) {
          case "/sleep" -> slept(5);
          case "/sleep20" -> slept(20);
          case "/slow" -> slow();
          case "/jdbc" -> greeting();
          case "/call" -> call();
          case "/fiber" -> Fiber.current().toString();
          default -> "hello, world";
        };
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/plain");
    response.getHeaders().put(HttpHeader.CONTENT_LENGTH, bytes.length);
    response.write(true, ByteBuffer.wrap(bytes), callback);
    return true;
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

  /** The other service, which /call asks, is the argument. */
  private static URI serviceOf(String[] args) {
    return URI.create(args.length > 0 ? args[0] : "http://localhost:8080/");
  }

  public static void main(String[] args) throws Exception {
    QueuedThreadPool threads = new QueuedThreadPool();
    threads.setVirtualThreadsExecutor(Executors.newVirtualThreadPerTaskExecutor());
    Server server = new Server(threads);
    ServerConnector connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    GracefulHandler graceful = new GracefulHandler();
    graceful.setHandler(new Jetty(serviceOf(args)));
    server.setHandler(graceful);
    server.setStopTimeout(5_000);
    server.setStopAtShutdown(true);
    server.start();
    System.out.println("@port " + connector.getLocalPort());
    server.join();
  }
}
