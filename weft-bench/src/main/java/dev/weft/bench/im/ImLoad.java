package dev.weft.bench.im;

import dev.weft.Scheduler;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The load on the instant-messaging server. Clients, half of them by TCP and half by WebSocket, log
 * in by tokens and talk at a rate; each message carries the time at which it was said. Then the
 * same load goes on under attacks; with {@code --nodes 2} on two nodes with one PostgreSQL and one
 * Redis, of which one is killed. In the end every member of a room must have heard the same
 * messages in the same order, and every one that was acknowledged.
 */
@Command(name = "weft bench im-load", mixinStandardHelpOptions = true)
public final class ImLoad {
  private static final int WRONG_LOGINS = 150;
  private static final int SLOW_LORIS = 2_000;
  private static final int BOMBS = 50;

  @Option(names = "--clients", description = "How many clients; ${DEFAULT-VALUE}.")
  private int clients = 10_000;

  @Option(names = "--rooms", description = "In how many rooms; ${DEFAULT-VALUE}.")
  private int rooms = 200;

  @Option(names = "--deliveries", description = "How many a second; ${DEFAULT-VALUE}.")
  private int deliveries = 20_000;

  @Option(names = "--seconds", description = "How long each phase is; ${DEFAULT-VALUE}.")
  private int seconds = 30;

  @Option(names = "--nodes", description = "1, or 2 of which one is killed; ${DEFAULT-VALUE}.")
  private int nodes = 1;

  @Option(names = "--quick", description = "500 clients, 20 rooms, 5,000 deliveries, 5 seconds.")
  private boolean quick;

  private final Path root = Path.of(System.getProperty("weft.root", "")).toAbsolutePath();
  private final PrintStream out;
  private final PrintStream err;

  private ImLoad(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /**
   * Runs {@code ./weft bench im-load} with its options.
   *
   * @return 0; 1 if something was lost, doubled or out of order; 2 if it cannot run
   */
  public static int run(PrintStream out, PrintStream err, String... args)
      throws InterruptedException {
    ImLoad load = new ImLoad(out, err);
    CommandLine line = new CommandLine(load);
    try {
      line.parseArgs(args);
    } catch (CommandLine.ParameterException e) {
      err.println("im-load: " + e.getMessage() + "; ./weft bench im-load --help lists the options");
      return 2;
    }
    if (line.isUsageHelpRequested()) {
      line.usage(out);
      return 0;
    }
    try (Scheduler scheduler = Scheduler.builder().name("load").build().start()) {
      List<String> faults = scheduler.go(() -> load.run(scheduler)).join();
      faults.forEach(fault -> out.println("FAULT " + fault));
      return faults.isEmpty() ? 0 : 1;
    } catch (RuntimeException e) {
      err.println("im-load: " + e.getMessage());
      return 2;
    }
  }

  private List<String> run(Scheduler scheduler) throws Exception {
    if (quick) {
      clients = 500;
      rooms = 20;
      deliveries = 5_000;
      seconds = 5;
    }
    Path folder = Files.createTempDirectory("weft-im-load");
    try {
      return nodes == 1 ? oneNode(scheduler, folder) : twoNodes(scheduler);
    } finally {
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(folder);
    }
  }

  private double messagesPerSecond() {
    return (double) deliveries * rooms / clients;
  }

  /** One user more than clients: that of the history bomb. */
  private Population prepared(String database, String... more) throws Exception {
    err.println("im-load: writing users and rooms");
    ImNode.start(root, database, more).close(); // makes the tables
    Path jars = root.resolve("target").resolve("launch").resolve("weft-im");
    new Population(clients + 1, rooms).write(jars, database);
    return new Population(clients, rooms);
  }

  private LoadClient.Connector connector(int client, ImNode... all) {
    return attempt -> {
      ImNode node = all[(client / 2 + attempt) % all.length];
      return client % 2 == 0 ? LineSocket.lines(node.lines()) : LineSocket.web(node.web());
    };
  }

  private List<LoadClient.Connector> connectors(ImNode... all) {
    List<LoadClient.Connector> connectors = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      connectors.add(connector(i, all));
    }
    return connectors;
  }

  // ---- one node ----

  private List<String> oneNode(Scheduler scheduler, Path folder) throws Exception {
    String database = "jdbc:h2:" + folder.resolve("im");
    Population population = prepared(database);
    List<Phase> phases = new ArrayList<>();
    LoadRun run = new LoadRun(scheduler, err, messagesPerSecond());
    try (ImNode node = ImNode.start(root, database)) {
      long before = node.liveBytes();
      run.connect(population, connectors(node));
      long memory = (node.liveBytes() - before) / clients;
      run.talk("warm-up", length(), node);
      phases.add(run.talk("load", length(), node));
      try (Attack _ = Attack.wrongLogins(scheduler, node.lines(), WRONG_LOGINS)) {
        phases.add(run.talk(WRONG_LOGINS + " wrong logins", length(), node));
      }
      try (Attack _ = Attack.slowLoris(scheduler, node.lines(), SLOW_LORIS)) {
        phases.add(run.talk(SLOW_LORIS + " slow loris", length(), node));
      }
      try (Attack _ = Attack.historyBomb(scheduler, node.lines(), BOMBS, clients)) {
        phases.add(run.talk(BOMBS + " history bombs", length(), node));
      }
      out.printf("memory a client: %,d bytes of the server's heap%n", memory);
      return report("one node", run, phases);
    }
  }

  private Duration length() {
    return Duration.ofSeconds(seconds);
  }

  // ---- two nodes ----

  private List<String> twoNodes(Scheduler scheduler) throws Exception {
    List<Phase> phases = new ArrayList<>();
    LoadRun run = new LoadRun(scheduler, err, messagesPerSecond());
    try (Helper postgres = Helper.start(root, "postgres");
        Helper redis = Helper.start(root, "redis")) {
      // a commit is answered when it is written
      String database = postgres.url() + "&options=-c%20synchronous_commit=on";
      String[] bus = {"--redis", redis.url(), "--beat", "500"};
      Population population = prepared(database, bus);
      try (ImNode one = ImNode.start(root, database, bus);
          ImNode two = ImNode.start(root, database, bus)) {
        run.connect(population, connectors(one, two));
        run.talk("warm-up", length(), one);
        phases.add(run.talk("two nodes", length(), one));
        scheduler.go(two::kill);
        phases.add(run.talk("one was killed", length(), one));
        return report("two nodes", run, phases);
      }
    }
  }

  // ---- what came of it ----

  private List<String> report(String title, LoadRun run, List<Phase> phases)
      throws IOException, InterruptedException {
    run.end();
    out.printf(
        Locale.ROOT,
        "%s: %,d clients in %d rooms, %,d deliveries a second asked for%n",
        title,
        clients,
        rooms,
        deliveries);
    out.printf(
        "%-20s %12s %9s %9s %9s %9s %12s %8s%n",
        "", "deliveries/s", "50 % ms", "99 % ms", "99.9 %", "max", "CPU us each", "RSS MB");
    for (Phase phase : phases) {
      out.printf(
          Locale.ROOT,
          "%-20s %,12.0f %9.2f %9.2f %9.2f %9.2f %12.1f %8d%n",
          phase.name(),
          phase.perSecond(),
          phase.millis(50),
          phase.millis(99),
          phase.millis(99.9),
          phase.millis(100),
          phase.cpuMicrosPerDelivery(),
          phase.residentBytes() >> 20);
    }
    List<String> faults = run.faults();
    out.printf(
        "%,d messages acknowledged, %,d deliveries, %,d again after a reconnect, %,d reconnects,"
            + " %,d refused: %s%n",
        run.acknowledged(),
        run.totals().received.get(),
        run.totals().doubled.get(),
        run.totals().reconnects.get(),
        run.totals().refused.get(),
        faults.isEmpty() ? "each member heard each once, in one order" : "FAULTS");
    Path picture =
        Files.createDirectories(root.resolve("target").resolve("bench"))
            .resolve("im-load-" + nodes + ".svg");
    Files.writeString(picture, LoadPicture.of("Weft chat, " + title + ": 99 % latency", phases));
    out.println("picture: " + root.relativize(picture));
    return faults;
  }
}
