//DEPS org.springframework.boot:spring-boot-starter-webmvc:4.1.1
//DEPS org.springframework.boot:spring-boot-starter-jdbc:4.1.1
//DEPS com.h2database:h2:2.5.252

import dev.weft.Fiber;
import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

/**
 * Spring Boot, web MVC on Tomcat with virtual threads and a database: ./weft run SpringBoot.java
 * [SERVICE]. It prints its port. /hello, /sleep (5 ms), /sleep20, /slow (a second) and /jdbc answer
 * "hello, world", /call what the service at the URL SERVICE answers, /fiber the fiber that serves
 * the request.
 */
@EnableAutoConfiguration
@RestController
public class SpringBoot {
  private final JdbcTemplate database;
  private final RestClient client = RestClient.create();
  private final String service;

  SpringBoot(JdbcTemplate database, @Value("${service}") String service) {
    this.database = database;
    this.service = service;
    database.execute("create table greeting (id int primary key, text varchar(100))");
    database.update("insert into greeting values (1, 'hello, world')");
  }

  @GetMapping("/hello")
  String hello() {
    return "hello, world";
  }

  @GetMapping("/sleep")
  String sleep() throws InterruptedException {
    Thread.sleep(5);
    return "hello, world";
  }

  @GetMapping("/sleep20")
  String sleepLonger() throws InterruptedException {
    Thread.sleep(20);
    return "hello, world";
  }

  @GetMapping("/jdbc")
  String jdbc() {
    return database.queryForObject("select text from greeting where id = ?", String.class, 1);
  }

  /** Asks another service and waits for its answer. */
  @GetMapping("/call")
  String call() {
    return client.get().uri(service).retrieve().body(String.class);
  }

  /** Long enough to be under way when the program is told to end. */
  @GetMapping("/slow")
  String slow() throws InterruptedException {
    System.out.println("@slow");
    Thread.sleep(1_000);
    return "hello, world";
  }

  @GetMapping("/fiber")
  String fiber() {
    return Fiber.current().toString();
  }

  @EventListener
  void started(WebServerInitializedEvent event) {
    System.out.println("@port " + event.getWebServer().getPort());
  }

  public static void main(String[] args) {
    SpringApplication application = new SpringApplication(SpringBoot.class);
    application.setDefaultProperties(
        Map.of(
            "service", args.length > 0 ? args[0] : "http://localhost:8080/",
            "server.port", "0",
            "server.address", "localhost",
            "server.shutdown", "graceful",
            "spring.threads.virtual.enabled", "true",
            "spring.main.banner-mode", "off",
            "logging.level.root", "warn",
            "server.tomcat.max-keep-alive-requests", "-1",
            "spring.datasource.url", "jdbc:h2:mem:greetings"));
    application.run(args);
  }
}
