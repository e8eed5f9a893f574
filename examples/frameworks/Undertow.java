//DEPS io.undertow:undertow-core:2.3.18.Final
//DEPS com.zaxxer:HikariCP:7.1.0
//DEPS com.h2database:h2:2.5.252
//DEPS org.slf4j:slf4j-nop:2.0.19

import com.zaxxer.hikari.HikariDataSource;
import dev.weft.Fiber;
import io.undertow.Handlers;
import io.undertow.UndertowOptions;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.GracefulShutdownHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.SQLException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Undertow with a virtual thread for each request: ./weft run Undertow.java [SERVICE]. It prints
 * its port. /hello, /sleep (5 ms), /sleep20, /slow (a second) and /jdbc answer "hello, world",
 * /call what the service at the URL SERVICE answers, /fiber the fiber that serves the request.
 */
public class Undertow implements HttpHandler {
  private final Executor executor = Executors.newVirtualThreadPerTaskExecutor();
  private final HikariDataSource database = new HikariDataSource();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI service;

  Undertow(URI service) throws SQLException {
    this.service = service;
    database.setJdbcUrl("jdbc:h2:mem:greetings");
    try (var connection = database.getConnection();
        var statement = connection.createStatement()) {
      statement.execute("create table greeting (id int primary key, text varchar(100))");
      statement.execute("insert into greeting values (1, 'hello, world')");
    }
  }

  /** Called on a thread of a selector, which must not block. */
  @Override
  public void handleRequest(HttpServerExchange exchange) {
    exchange.dispatch(executor, this::answer);
  }

  private void answer(HttpServerExchange exchange) throws Exception {
    String text =
        switch (exchange.getRequestPath()) {
          case "/sleep" -> slept(5);
          case "/sleep20" -> slept(20);
          case "/slow" -> slow();
          case "/jdbc" -> greeting();
          case "/call" -> call();
          case "/fiber" -> Fiber.current().toString();
          default -> "hello, world";
        };
    exchange.getResponseSender().send(text);
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

  public static void main(String[] args) throws SQLException {
    for (String name : new String[] {"io.undertow", "org.xnio", "org.jboss"}) {
      Logger.getLogger(name).setLevel(Level.WARNING);
    }
    GracefulShutdownHandler graceful = Handlers.gracefulShutdown(new Undertow(serviceOf(args)));
    var server =
        io.undertow.Undertow.builder()
            .addHttpListener(0, "127.0.0.1", graceful)
            .setIoThreads(1)
            .setServerOption(UndertowOptions.ALWAYS_SET_KEEP_ALIVE, false)
            .build();
    server.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server, graceful)));
    var address = (InetSocketAddress) server.getListenerInfo().getFirst().getAddress();
    System.out.println("@port " + address.getPort());
  }

  /** Refuses new requests and waits for requests that are under way. */
  private static void stop(io.undertow.Undertow server, GracefulShutdownHandler graceful) {
    try {
      graceful.shutdown();
      graceful.awaitShutdown(5_000);
      server.stop();
    } catch (InterruptedException e) {
      e.printStackTrace();
    }
  }
}
