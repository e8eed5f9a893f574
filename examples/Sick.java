import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.channel.Channel;
import dev.weft.sync.Mutex;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A service that is ill, to try ./weft dump, top, leaks and report on as docs/operating.md tells.
 */
public class Sick {
  private static final Scheduler SERVICE =
      Scheduler.builder().name("service").threads(2).build().start();

  private interface Illness {
    void begin() throws Exception;
  }

  private static final Map<String, Illness> ILLNESSES =
      new TreeMap<>(
          Map.of(
              "stuck", Sick::stuck,
              "cycle", Sick::cycle,
              "leak", Sick::leak,
              "hog", Sick::hog,
              "slow", Sick::slow,
              "sockets", Sick::sockets,
              "helpers", Sick::helpers,
              "spell", Sick::spell));

  public static void main(String[] args) throws Exception {
    if (args.length == 0) {
      System.out.println("which illness? " + String.join(", ", ILLNESSES.keySet()));
      System.exit(0);
    }
    ILLNESSES.get(args[0]).begin();
    System.out.println("process " + ProcessHandle.current().pid());
    Thread.sleep(Duration.ofHours(1));
    System.exit(0);
  }

  private static void go(String name, dev.weft.Body body) {
    SERVICE.go(FiberOptions.named(name), body);
  }

  // ---- a fiber waits for ever, with a lock that others want

  private static void stuck() {
    Mutex accounts = new Mutex();
    Channel<String> answers = Channel.rendezvous();
    go("audit", () -> audit(accounts, answers));
    for (int i = 0; i < 20; i++) {
      go("request-" + i, () -> withdraw(accounts));
    }
    go("auditor", () -> keep(answers)); // it holds the channel, and never sends
  }

  private static void audit(Mutex accounts, Channel<String> answers) throws Exception {
    accounts.lock();
    try {
      answers.receive();
    } finally {
      accounts.unlock();
    }
  }

  private static void withdraw(Mutex accounts) throws Exception {
    Fiber.sleep(Duration.ofMillis(50));
    accounts.lock();
    accounts.unlock();
  }

  private static void keep(Object held) throws Exception {
    while (held.hashCode() != -1) {
      Fiber.sleep(Duration.ofSeconds(1));
    }
  }

  // ---- two fibers lock the same two mutexes in different orders

  private static void cycle() {
    Mutex left = new Mutex();
    Mutex right = new Mutex();
    go("left to right", () -> transfer(left, right));
    go("right to left", () -> transfer(right, left));
  }

  private static void transfer(Mutex from, Mutex to) throws Exception {
    from.lock();
    Fiber.sleep(Duration.ofMillis(50));
    to.lock();
    to.unlock();
    from.unlock();
  }

  // ---- a receiver of which everybody has forgotten the channel

  private static void leak() {
    for (int i = 0; i < 30; i++) {
      go("request-" + i, Sick::askAndForget);
    }
  }

  private static void askAndForget() throws Exception {
    Channel<String> answer = Channel.rendezvous();
    go("reader", () -> read(answer));
    Fiber.sleep(Duration.ofMillis(50)); // then the request gives up; close() would end the reader
  }

  private static void read(Channel<String> answer) throws Exception {
    answer.receive();
  }

  // ---- a fiber computes and never yields

  private static void hog() {
    go("report", Sick::compute);
    go("heartbeat", () -> keep("service"));
  }

  private static void compute() {
    long sum = 0;
    while (sum != -1) {
      sum = Math.abs(sum * 31 + 7);
    }
  }

  // ---- a database that takes its time

  private static void slow() throws Exception {
    ServerSocket database = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    go("database", () -> serve(database));
    for (int i = 0; i < 40; i++) {
      go("request-" + i, () -> query(database.getLocalPort()));
    }
  }

  private static void serve(ServerSocket database) throws IOException {
    List<Socket> clients = new ArrayList<>();
    while (clients.size() < 1_000) {
      clients.add(database.accept()); // and no answer
    }
  }

  private static void query(int port) throws IOException {
    try (Socket connection = new Socket(InetAddress.getLoopbackAddress(), port)) {
      connection.getOutputStream().write("select 1".getBytes());
      connection.getInputStream().read();
    }
  }

  // ---- connections that nobody closes

  private static void sockets() throws Exception {
    ServerSocket server = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    go("server", () -> serve(server));
    List<Socket> open = new ArrayList<>();
    go(
        "client",
        () -> {
          while (open.size() < 300) {
            open.add(new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort()));
          }
          keep(open);
        });
  }

  // ---- more blocking calls than helper threads

  private static void helpers() {
    for (int i = 0; i < 100; i++) {
      go("request-" + i, () -> Weft.blocking(Sick::callNativeCode));
    }
  }

  private static void callNativeCode() throws InterruptedException {
    Thread.sleep(Duration.ofHours(1));
  }

  // ---- a slow spell that is over: requests waited while a backup kept a lock

  private static void spell() throws Exception {
    Mutex accounts = new Mutex();
    List<Fiber<Void>> requests = new ArrayList<>();
    go("backup", () -> backUp(accounts));
    for (int i = 0; i < 20; i++) {
      requests.add(SERVICE.go(FiberOptions.named("request-" + i), () -> withdraw(accounts)));
    }
    for (Fiber<Void> request : requests) {
      request.join();
    }
  }

  private static void backUp(Mutex accounts) throws Exception {
    accounts.lock();
    try {
      Fiber.sleep(Duration.ofSeconds(2));
    } finally {
      accounts.unlock();
    }
  }
}
