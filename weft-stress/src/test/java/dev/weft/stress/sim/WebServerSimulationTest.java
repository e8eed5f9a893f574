package dev.weft.stress.sim;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.weft.http.WeftHttpServerProvider;
import dev.weft.sim.Fault;
import dev.weft.sim.Host;
import dev.weft.sim.Simulation;
import dev.weft.sim.SimulationOptions;
import dev.weft.sim.SimulationResult;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Weft's web server in a simulated network: connections are kept alive, reset and late, and the
 * server's host crashes. Every answer is the answer to its own request, and a request whose answer
 * has arrived was handled once.
 */
@Feature({"V9", "A2"})
@Timeout(120)
@SuppressWarnings("AddressSelection") // a simulated host has one address
class WebServerSimulationTest {
  private static final int SEEDS = 150;
  private static final int CLIENTS = 3;
  private static final int REQUESTS = 4;

  /** Makes the body of an answer. */
  private interface Answers {
    String to(String id) throws InterruptedException;
  }

  /** What the server has handled in one run; survives a crash, as all static state does. */
  private static final class Service {
    private final Map<String, Integer> handled = new ConcurrentHashMap<>();
    private final Answers answers;

    Service(Answers answers) {
      this.answers = answers;
    }

    /** The main of the server's host. */
    void serve() throws IOException {
      HttpServer server =
          new WeftHttpServerProvider().createHttpServer(new InetSocketAddress(80), 0);
      server.createContext("/", this::handle);
      server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
      String id = exchange.getRequestURI().getQuery();
      handled.merge(id, 1, Integer::sum);
      byte[] body;
      try {
        body = answers.to(id).getBytes(StandardCharsets.US_ASCII);
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    }
  }

  /** One client: asks, one request after the other on a connection, and connects again. */
  private static void ask(int client, Service service) throws InterruptedException {
    int asked = 0;
    int answered = 0;
    while (answered < REQUESTS) {
      try (Socket socket = new Socket("web", 80)) {
        socket.setSoTimeout(60_000);
        BufferedReader in =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        while (answered < REQUESTS) {
          String id = client + "-" + asked++;
          String request = "GET /?%s HTTP/1.1\r\nHost: web\r\n\r\n".formatted(id);
          socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
          assertThat(answer(in)).as("the answer to %s", id).isEqualTo(id);
          assertThat(service.handled.get(id)).as("how often %s was handled", id).isEqualTo(1);
          answered++;
        }
      } catch (IOException e) {
        Thread.sleep(1); // reset, refused or late: again, with a new id
      }
    }
  }

  private static String answer(BufferedReader in) throws IOException {
    String status = in.readLine();
    if (status == null) {
      throw new IOException("the connection has ended");
    }
    assertThat(status).isEqualTo("HTTP/1.1 200 OK");
    int length = -1;
    for (String line = in.readLine(); !"".equals(line); line = in.readLine()) {
      if (line == null) {
        throw new IOException("the connection has ended");
      }
      if (line.regionMatches(true, 0, "content-length:", 0, 15)) {
        length = Integer.parseInt(line.substring(15).strip());
      }
    }
    char[] body = new char[length];
    for (int got = 0; got < length; ) {
      int more = in.read(body, got, length - got);
      if (more < 0) {
        throw new IOException("the connection has ended");
      }
      got += more;
    }
    return new String(body);
  }

  private static void run(Simulation sim, Service service) throws Exception {
    sim.network()
        .latency(ofMillis(1), ofMillis(5))
        .resets(0.02)
        .stalls(0.02, ofMillis(300))
        .refusals(0.02);
    Host web = sim.host("web", service::serve);
    sim.at(
        ofMillis(20),
        () -> {
          web.crash();
          Thread.sleep(30);
          web.restart();
        });
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      clients.add(
          Thread.ofVirtual()
              .name("client-" + i)
              .start(
                  () -> {
                    try {
                      ask(client, service);
                    } catch (InterruptedException e) {
                      throw new IllegalStateException(e);
                    }
                  }));
    }
    for (Thread client : clients) {
      client.join();
    }
  }

  private static SimulationResult explore(Answers answers) {
    return Simulation.explore(
        SimulationOptions.seeds(SEEDS).points("dev.weft.stress.sim"),
        sim -> run(sim, new Service(answers)));
  }

  @Test
  void everyAnswerBelongsToItsRequestUnderFaults() {
    SimulationResult result =
        explore(
            id -> {
              Thread.sleep(id.hashCode() & 3);
              return id;
            });
    result.check();
    assertThat(result.faults())
        .containsKeys(Fault.RESET, Fault.STALL, Fault.REFUSAL, Fault.CRASH)
        .allSatisfy((fault, count) -> assertThat(count).as(fault.name()).isPositive());
  }

  /** A handler that keeps its answer where others see it: the checks above can fail. */
  @Test
  void aHandlerThatSharesItsAnswerIsFound() {
    String[] shared = new String[1];
    SimulationResult result =
        explore(
            id -> {
              shared[0] = id;
              Thread.sleep(1);
              return shared[0];
            });
    assertThat(result.failure()).isPresent();
    assertThat(result.failure().orElseThrow().text()).contains("the answer to");
  }
}
