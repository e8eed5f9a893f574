//DEPS org.apache.tomcat.embed:tomcat-embed-core:11.0.25
//DEPS com.zaxxer:HikariCP:7.1.0
//DEPS com.h2database:h2:2.5.252
//DEPS org.slf4j:slf4j-nop:2.0.19

import com.zaxxer.hikari.HikariDataSource;
import dev.weft.Fiber;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.AbstractProtocol;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.apache.tomcat.util.threads.VirtualThreadExecutor;

/**
 * Embedded Tomcat with a virtual thread for each request: ./weft run Tomcat.java [SERVICE]. It
 * prints its port. /hello, /sleep (5 ms), /sleep20, /slow (a second) and /jdbc answer "hello,
 * world", /call what the service at the URL SERVICE answers, /fiber the fiber that serves the
 * request.
 */
public class Tomcat extends HttpServlet {
  private final HikariDataSource database = new HikariDataSource();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI service;

  Tomcat(URI service) throws SQLException {
    this.service = service;
    database.setJdbcUrl("jdbc:h2:mem:greetings");
    try (var connection = database.getConnection();
        var statement = connection.createStatement()) {
      statement.execute("create table greeting (id int primary key, text varchar(100))");
      statement.execute("insert into greeting values (1, 'hello, world')");
    }
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    try {
      String text =
          switch (request.getRequestURI()) {
            case "/sleep" -> slept(5);
            case "/sleep20" -> slept(20);
            case "/slow" -> slow();
            case "/jdbc" -> greeting();
            case "/call" -> call();
            case "/fiber" -> Fiber.current().toString();
            default -> "hello, world";
          };
      response.setContentType("text/plain");
      response.setContentLength(text.length());
      response.getOutputStream().print(text);
    } catch (SQLException | InterruptedException e) {
      throw new IOException(e);
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

  /** The other service, which /call asks, is the argument. */
  private static URI serviceOf(String[] args) {
    return URI.create(args.length > 0 ? args[0] : "http://localhost:8080/");
  }

  public static void main(String[] args) throws Exception {
    Logger.getLogger("org.apache").setLevel(Level.WARNING);
    Path folder = Files.createTempDirectory("tomcat-");
    var tomcat = new org.apache.catalina.startup.Tomcat();
    tomcat.setBaseDir(folder.toString());
    Connector connector = new Connector();
    connector.setPort(0);
    connector.setProperty("address", "127.0.0.1");
    var protocol = (AbstractHttp11Protocol<?>) connector.getProtocolHandler();
    protocol.setExecutor(new VirtualThreadExecutor("handler-"));
    protocol.setMaxKeepAliveRequests(-1);
    tomcat.setConnector(connector);
    Context context = tomcat.addContext("", folder.toString());
    org.apache.catalina.startup.Tomcat.addServlet(context, "hello", new Tomcat(serviceOf(args)));
    context.addServletMappingDecoded("/", "hello");
    tomcat.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(tomcat, folder)));
    System.out.println("@port " + connector.getLocalPort());
    tomcat.getServer().await();
  }

  /** Accepts no more connections and waits for requests that are under way. */
  private static void stop(org.apache.catalina.startup.Tomcat tomcat, Path folder) {
    try {
      Connector connector = tomcat.getConnector();
      connector.pause();
      connector.getProtocolHandler().closeServerSocketGraceful();
      ((AbstractProtocol<?>) connector.getProtocolHandler()).awaitConnectionsClose(5_000);
      tomcat.stop();
      try (var files = Files.walk(folder)) {
        files.sorted(java.util.Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    } catch (LifecycleException | IOException e) {
      e.printStackTrace();
    }
  }
}
