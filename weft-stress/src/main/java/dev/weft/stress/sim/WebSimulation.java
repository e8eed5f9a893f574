package dev.weft.stress.sim;

import static dev.weft.stress.sim.Party.equal;
import static java.time.Duration.ofMillis;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.weft.http.WebSocket;
import dev.weft.http.WeftHttpServerProvider;
import dev.weft.sim.Host;
import dev.weft.sim.Simulation;
import dev.weft.sim.SimulationBody;
import dev.weft.sim.SimulationOptions;
import dev.weft.sim.SimulationResult;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Weft's web server in a simulated network: connections are kept alive, reset and late, the
 * server's host crashes, and a partition cuts it off. Requests come without a body, with one of a
 * known length, and in chunks, and as messages of a WebSocket. Every answer is the answer to its
 * own request, and a request whose answer has arrived was handled once.
 */
@SuppressWarnings("AddressSelection") // a simulated host has one address
public final class WebSimulation {
  private static final int CLIENTS = 3;
  private static final int REQUESTS = 4;

  /** How often the id of a request is in its body: more than a segment of the network. */
  private static final int REPEATED = 500;

  private WebSimulation() {}

  private static SimulationOptions named(SimulationOptions options) {
    return options.name("web").points("dev.weft.stress.sim", "dev.weft.http");
  }

  /** Repeats one run, as a report names it. */
  public static SimulationResult replay(String run) {
    return explore(
        named(SimulationOptions.replay(run)),
        sim -> run(sim, new Service(WebSimulation::answerAfterAMoment)),
        () -> {});
  }

  private static String answerAfterAMoment(String id) throws InterruptedException {
    Thread.sleep(id.hashCode() & 3);
    return id;
  }

  /** Explores it with a handler that answers with the id of the request, after a moment. */
  public static SimulationResult explore(long firstSeed, int seeds, Runnable afterSeed) {
    return explore(firstSeed, seeds, afterSeed, WebSimulation::answerAfterAMoment);
  }

  static SimulationResult explore(long firstSeed, int seeds, Runnable afterSeed, Answers answers) {
    return explore(
        named(SimulationOptions.seeds(seeds)).firstSeed(firstSeed),
        sim -> run(sim, new Service(answers)),
        afterSeed);
  }

  private static SimulationResult explore(
      SimulationOptions options, SimulationBody body, Runnable afterSeed) {
    return QuietLog.of(
        "dev.weft.http",
        () -> Simulation.explore(options, body, (runs, schedules, digest) -> afterSeed.run()));
  }

  /** Makes the body of an answer. */
  interface Answers {
    /** Returns it; may wait. */
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
      server.createContext("/socket", WebSocket.handler(this::talk));
      server.start();
    }

    private void talk(WebSocket socket) throws IOException, InterruptedException {
      Optional<String> id = socket.receiveText();
      while (id.isPresent()) {
        handled.merge(id.get(), 1, Integer::sum);
        socket.send(answers.to(id.get()));
        id = socket.receiveText();
      }
    }

    private static String id(HttpExchange exchange) throws IOException {
      if (exchange.getRequestMethod().equals("GET")) {
        return exchange.getRequestURI().getQuery();
      }
      byte[] body = exchange.getRequestBody().readAllBytes();
      String text = new String(body, StandardCharsets.US_ASCII);
      String id = text.substring(0, Math.max(0, text.indexOf(';')));
      equal(text, body(id), "the body of " + id);
      return id;
    }

    private void handle(HttpExchange exchange) throws IOException {
      String id = id(exchange);
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
          socket.getOutputStream().write(request(id, asked).getBytes(StandardCharsets.US_ASCII));
          equal(answer(in), id, "the answer to " + id);
          equal(service.handled.get(id), 1, "how often " + id + " was handled");
          answered++;
        }
      } catch (IOException e) {
        Thread.sleep(1); // reset, refused or late: again, with a new id
      }
    }
  }

  /** The client that speaks by messages: asks in the same way. */
  private static void askByMessages(Service service) throws InterruptedException {
    int asked = 0;
    int answered = 0;
    while (answered < REQUESTS) {
      try (WebSocketClient socket = new WebSocketClient("web", 80, "/socket")) {
        while (answered < REQUESTS) {
          String id = "message-" + asked++;
          socket.send(id);
          equal(socket.receive(), id, "the answer to " + id);
          equal(service.handled.get(id), 1, "how often " + id + " was handled");
          answered++;
        }
      } catch (IOException e) {
        Thread.sleep(1); // reset, refused or late: again, with a new id
      }
    }
  }

  /** Returns the request with an id, of one of three kinds. */
  private static String request(String id, int kind) {
    String body = body(id);
    int half = body.length() / 2;
    return switch (kind % 3) {
      case 0 -> "GET /?%s HTTP/1.1\r\nHost: web\r\n\r\n".formatted(id);
      case 1 ->
          "POST / HTTP/1.1\r\nHost: web\r\nContent-Length: %d\r\n\r\n%s"
              .formatted(body.length(), body);
      default ->
          "POST / HTTP/1.1\r\nHost: web\r\nTransfer-Encoding: chunked\r\n\r\n%s%s0\r\n\r\n"
              .formatted(chunk(body.substring(0, half)), chunk(body.substring(half)));
    };
  }

  private static String body(String id) {
    return (id + ";").repeat(REPEATED);
  }

  private static String chunk(String content) {
    return "%x\r\n%s\r\n".formatted(content.length(), content);
  }

  private static String answer(BufferedReader in) throws IOException {
    String status = in.readLine();
    if (status == null) {
      throw new IOException("the connection has ended");
    }
    equal(status, "HTTP/1.1 200 OK", "the status");
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
          Thread.sleep(sim.random().nextInt(5, 50));
          sim.network().partition("main", "web");
          Thread.sleep(500);
          sim.network().heal();
        });
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      clients.add(start("client-" + i, () -> ask(client, service)));
    }
    clients.add(start("messages", () -> askByMessages(service)));
    for (Thread client : clients) {
      client.join();
    }
  }

  private static Thread start(String name, Simulation.Action client) {
    return Thread.ofVirtual()
        .name(name)
        .start(
            () -> {
              try {
                client.run();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
  }
}
